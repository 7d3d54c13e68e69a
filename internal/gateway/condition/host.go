package condition

import (
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"golang.org/x/net/idna"
)

// Host is a pattern for the host of an address, with an optional port.
type Host struct {
	text    string
	name    string     // in ASCII and lower case; "" for an IP address
	isBelow bool       // any name below the name, and not the name itself
	address netip.Addr // if it is an IP address
	port    uint16     // 0: any
}

func (h Host) String() string { return h.text }

// ParseHost reads a pattern such as "example.com", "*.example.com", "127.0.0.1:8080" or "[::1]:8080".
func ParseHost(text string) (Host, error) {
	if strings.ContainsAny(text, "/\\@?#") {
		return Host{}, errors.New(`it must be only the host and maybe a port, such as "example.com" or "example.com:8080"`)
	}
	h := Host{text: text}
	rest := text
	if address, err := netip.ParseAddr(text); err == nil && address.Is6() {
		rest = "[" + text + "]"
	}
	if below, ok := strings.CutPrefix(rest, "*."); ok {
		h.isBelow, rest = true, below
	}
	if strings.Contains(rest, "*") {
		return Host{}, errors.New(`a "*" can only stand for all that is before a dot, as in "*.example.com"`)
	}
	place, err := parsePlace(rest)
	if err != nil {
		return Host{}, err
	}
	if h.isBelow && place.address.IsValid() {
		return Host{}, errors.New("an IP address has nothing below it")
	}
	h.name, h.address, h.port = place.name, place.address, place.port
	return h, nil
}

// matches reports whether an address is at the host.
func (h Host) matches(at place) bool {
	switch {
	case h.port != 0 && h.port != at.port:
		return false
	case h.address.IsValid() || at.address.IsValid():
		return h.address == at.address
	case h.isBelow:
		return strings.HasSuffix(at.name, "."+h.name)
	}
	return h.name != "" && at.name == h.name
}

// maxAddress is the length of an address that is judged; a longer one does not hold.
const maxAddress = 64 << 10

// atHosts returns why a value is not an http address at one of the hosts, or could be read as one that is not.
func atHosts(value string, hosts []Host) string {
	at, err := parseAddress(value)
	if err != nil {
		return err.Error()
	}
	for _, host := range hosts {
		if host.matches(at) {
			return ""
		}
	}
	return "'" + show(at.String()) + "' is another host"
}

// parseAddress finds the host of an http or https address. It refuses all that programs read differently.
func parseAddress(value string) (place, error) {
	if len(value) > maxAddress {
		return place{}, errors.New("it is too long")
	}
	var port uint16
	rest := ""
	switch {
	case hasPrefixFold(value, "http://"):
		port, rest = 80, value[len("http://"):]
	case hasPrefixFold(value, "https://"):
		port, rest = 443, value[len("https://"):]
	default:
		return place{}, errors.New("it is not an http or https address")
	}
	if strings.ContainsFunc(value, func(r rune) bool { return r == '\\' || isControl(r) || isBlank(r) }) {
		return place{}, errors.New("it has spaces, backslashes or control characters")
	}
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	// Some programs look for the user name further right.
	if strings.Contains(rest[:end], "@") || end < len(rest) && rest[end] != '/' && strings.Contains(rest[end:], "@") {
		return place{}, errors.New("it has a user name, or seems to")
	}
	at, err := parsePlace(rest[:end])
	if err != nil {
		return place{}, fmt.Errorf("its host cannot be judged: %w", err)
	}
	if at.port == 0 {
		at.port = port
	}
	return at, nil
}

// place is a host and a port.
type place struct {
	name    string     // in ASCII and lower case; "" for an IP address
	address netip.Addr // if it is one
	port    uint16     // 0 if it is not given
}

func (p place) String() string {
	if p.address.IsValid() {
		return p.address.String()
	}
	return p.name
}

func parsePlace(text string) (p place, err error) {
	var host, port string
	hasPort := false
	if inner, ok := strings.CutPrefix(text, "["); ok {
		var rest string
		if host, rest, ok = strings.Cut(inner, "]"); !ok {
			return place{}, errors.New("a bracket is not closed")
		}
		if port, hasPort = strings.CutPrefix(rest, ":"); !hasPort && rest != "" {
			return place{}, errors.New("after the bracket comes only a port")
		}
		p.address, err = parseIPv6(host)
	} else {
		host, port, hasPort = strings.Cut(text, ":")
		p.name, p.address, err = parseHostName(host)
	}
	if err == nil && hasPort {
		p.port, err = parsePort(port)
	}
	return p, err
}

func parsePort(text string) (uint16, error) {
	port, err := strconv.ParseUint(text, 10, 16)
	if err != nil || port == 0 || text[0] == '0' || text[0] == '+' {
		return 0, errors.New("the port must be a number from 1 to 65535")
	}
	return uint16(port), nil
}

func parseIPv6(text string) (netip.Addr, error) {
	address, err := netip.ParseAddr(text)
	switch {
	case err != nil || !address.Is6():
		return netip.Addr{}, errors.New("in brackets stands an IPv6 address")
	case address.Zone() != "":
		return netip.Addr{}, errors.New("an address with a zone depends on the machine")
	case address.Is4In6():
		return netip.Addr{}, errors.New("it is an IPv4 address, which must be written as such")
	}
	return address, nil
}

// names convert names with characters outside of ASCII, in both ways that are in use.
var names = []*idna.Profile{
	idna.New(idna.MapForLookup(), idna.BidiRule(), idna.Transitional(false), idna.StrictDomainName(true)),
	idna.New(idna.MapForLookup(), idna.BidiRule(), idna.Transitional(true), idna.StrictDomainName(true)),
}

var errName = errors.New("it is not a host name")

// parseHostName reads a name or an IPv4 address.
func parseHostName(text string) (string, netip.Addr, error) {
	name := strings.ToLower(text)
	if strings.ContainsFunc(text, func(r rune) bool { return r >= 0x80 }) || strings.Contains(name, "xn--") {
		for i, profile := range names {
			converted, err := profile.ToASCII(text)
			if err != nil {
				return "", netip.Addr{}, errName
			}
			if converted = strings.ToLower(converted); i > 0 && converted != name {
				return "", netip.Addr{}, errors.New("programs convert its name in different ways; write it in ASCII (xn--)")
			}
			name = converted
		}
	}
	if address, err := netip.ParseAddr(name); err == nil && address.Is4() {
		if name != text {
			return "", netip.Addr{}, errors.New("an IP address must be written in ASCII")
		}
		return "", address, nil
	}
	return name, netip.Addr{}, checkName(name)
}

// checkName checks a name in ASCII and lower case.
func checkName(name string) error {
	if name == "" {
		return errors.New("there is no host")
	}
	last := ""
	for label := range strings.SplitSeq(name, ".") {
		if label == "" || len(label) > 63 || strings.Trim(label, "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
			return errName
		}
		last = label
	}
	// Some programs take 127.1 and 0x7f000001 for addresses.
	hex, isHex := strings.CutPrefix(last, "0x")
	if strings.Trim(last, "0123456789") == "" || isHex && strings.Trim(hex, "0123456789abcdef") == "" {
		return errors.New("it ends like a number; an IPv4 address has four decimal ones")
	}
	if len(name) > 253 {
		return errName
	}
	return nil
}
