package sandbox

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Denial is something that the sandbox refused a program, as far as its output tells.
type Denial struct {
	What string // a path, an address or a name of a host
	Fix  string // what allows it; "" if nothing is proposed
	Why  string // instead of Fix
}

// The forms in which programs tell of a refusal: Node.js, Python, Go, Rust, the shell and its tools. The first group is the path or
// the address.
// They are compiled when they are needed: the launcher starts without them.
var forms = sync.OnceValue(func() (f struct {
	paths, addresses []*regexp.Regexp
	sockets, names   *regexp.Regexp
	offline          *regexp.Regexp
	relative         *regexp.Regexp
},
) {
	f.paths = []*regexp.Regexp{
		regexp.MustCompile(`(?:EACCES|EPERM|EROFS)[^']*'([^']+)'`),
		regexp.MustCompile(`\[Errno (?:1|13)\] [^:]*: '([^']+)'`),
		regexp.MustCompile(`(?i)npm (?:error|err!) path (/\S+)`),
		regexp.MustCompile("(?i)[‘'\"`](/[^’'\"`]+)[’'\"`][^/]*(?:permission denied|operation not permitted)"),
		regexp.MustCompile(`(?i)(/[^\s:'"]+)"?: (?:permission denied|operation not permitted)`),
		regexp.MustCompile("(?i)(?:permission denied|operation not permitted)[^/]*[ ‘'\"`(](/[^’'\"`)\\s]+)"),
	}
	f.addresses = []*regexp.Regexp{
		regexp.MustCompile(`(?:connect|listen|bind|send) (?:EACCES|EPERM):? ?(?:permission denied )?(\S+)`),
		regexp.MustCompile(`dial (?:tcp|udp)[46]? (\S+?): socket`),
		regexp.MustCompile(`listen (?:tcp|udp)[46]? (\S+?): socket`),
		regexp.MustCompile(`getaddrinfo (?:EAI_AGAIN|ENOTFOUND|EACCES) (\S+)`),
		regexp.MustCompile(`/dev/(?:tcp|udp)/(\S+?): (?i:permission denied|operation not permitted)`),
		regexp.MustCompile(`dial unix (\S+?): socket`),
		regexp.MustCompile(`(?i)(?:error sending request for url|failed to fetch:?|request to) \(?.?https?://([^/\s)'"]+)`),
		regexp.MustCompile(`lookup (\S+?)(?: on \S+)?: .*(?:socket|permission denied)`),
	}
	f.sockets = regexp.MustCompile(`_socket\.socket\.__init__|(?i)socket(?:\(\))?: (?:permission denied|operation not permitted|address family not supported)`)
	f.names = regexp.MustCompile(`(?i)(temporary failure in name resolution|could not resolve host|name or service not known|dns error)`)
	f.offline = regexp.MustCompile(`ENOTCACHED|only-if-cached|(?i)because the network was disabled`)
	f.relative = regexp.MustCompile(`(?i)(cannot create |cannot [a-z ]+['‘]|: )([^\s:'‘"/][^\s:'’"]*)['’]?: (?:permission denied|operation not permitted)$`)
	return f
})

// Explain finds what a program was refused by the sandbox in lines that it printed. What the sandbox allows, and the system
// refuses, is not among it.
func (p *Plan) Explain(lines []string) (denials []Denial) {
	seen := make(map[string]bool)
	for _, line := range lines {
		denial, ok := p.explain(line)
		if ok && !seen[denial.What] {
			seen[denial.What] = true
			denials = append(denials, denial)
		}
	}
	all := slices.Clone(denials)
	return slices.DeleteFunc(denials, func(d Denial) bool { // where another line says more
		return (d.What == aSocket || d.What == theNetwork) && slices.ContainsFunc(all, func(other Denial) bool {
			return other.Fix == d.Fix && other.What != aSocket && other.What != theNetwork
		})
	})
}

// What was refused where the output does not say it.
const (
	aSocket    = "a socket"
	theNetwork = "the network"
	aPackage   = "the download of a package that it does not have yet"
)

func (p *Plan) explain(line string) (Denial, bool) {
	if !p.Network && forms().offline.MatchString(line) {
		return Denial{What: aPackage, Fix: "allow the network once (" + networkFix + "), start it, then set it back"}, true
	}
	for _, form := range forms().addresses {
		if match := form.FindStringSubmatch(line); match != nil {
			if strings.HasPrefix(match[1], "/") || strings.HasPrefix(match[1], "@") {
				return unixSocket(match[1]), true
			}
			if !p.Network {
				return Denial{What: strings.TrimRight(match[1], ".,;"), Fix: networkFix}, true
			}
		}
	}
	if forms().names.MatchString(line) && !p.Network {
		return Denial{What: theNetwork, Fix: networkFix}, true
	}
	switch {
	case forms().sockets.MatchString(line) && p.Network:
		return unixSocket("a socket that is neither TCP nor UDP"), true
	case forms().sockets.MatchString(line):
		return Denial{What: aSocket, Fix: networkFix}, true
	}
	for _, form := range forms().paths {
		if match := form.FindStringSubmatch(line); match != nil {
			if path := filepath.Clean(match[1]); filepath.IsAbs(path) {
				return p.explainPath(line, path)
			}
		}
	}
	if match := forms().relative.FindStringSubmatch(line); match != nil {
		path := filepath.Join(p.Dir, match[2])
		if _, err := os.Lstat(path); err == nil || strings.HasPrefix(match[1], "cannot") {
			return p.explainPath(line, path)
		}
	}
	return Denial{}, false
}

const networkFix = `"sandbox": {"network": true}`

func unixSocket(path string) Denial {
	return Denial{What: path, Fix: `"sandbox": false, if it needs that; no sandbox lets a server use Unix or raw sockets`}
}

// String describes the denial for people.
func (d Denial) String() string {
	if d.Fix == "" {
		return "the sandbox refused " + d.What + ": " + d.Why
	}
	return "the sandbox refused " + d.What + "; to allow it: " + d.Fix
}

func quoted(text string) string {
	encoded, _ := json.Marshal(text) // a string can always be encoded
	return string(encoded)
}
