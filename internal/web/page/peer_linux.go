package page

import (
	"bufio"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
)

// maxSockets bounds the sockets of the machine that are looked at for the owner of one; others are not found.
const maxSockets = 1_000_000

// checkPeer looks for the other end of a connection among the sockets of this machine.
func checkPeer(local, remote netip.AddrPort) error {
	for _, name := range []string{"/proc/net/tcp", "/proc/net/tcp6"} { // an IPv6 socket may reach an IPv4 address
		user, err := ownerIn(name, remote, local)
		switch {
		case err != nil:
			return fmt.Errorf("%w: %w", errPeerUnknown, err)
		case user < 0:
			continue
		case user != os.Geteuid() && user != 0:
			return &strangerError{user, os.Geteuid()}
		}
		return nil
	}
	return errPeerUnknown
}

func ownerIn(name string, from, to netip.AddrPort) (user int, err error) {
	file, err := os.Open(name)
	if os.IsNotExist(err) && strings.HasSuffix(name, "6") {
		return -1, nil // a kernel without IPv6
	}
	if err != nil {
		return -1, err
	}
	defer file.Close()
	return ownerOf(file, from, to)
}

// ownerOf returns the user of a socket of one address to another one, or -1 if there is none. A socket that its program has
// closed has no inode, and is shown as one of root: it is nobody's.
func ownerOf(table io.Reader, from, to netip.AddrPort) (user int, err error) {
	lines := bufio.NewScanner(table)
	for n := 0; lines.Scan() && n < maxSockets; n++ {
		fields := strings.Fields(lines.Text()) // sl local remote state queues timer retransmitted uid timeout inode …
		if len(fields) < 10 || !isAddress(fields[1], from) || !isAddress(fields[2], to) || fields[9] == "0" {
			continue
		}
		return strconv.Atoi(fields[7])
	}
	return -1, lines.Err()
}

// isAddress reports whether an address of the table is that one: words of 32 bits in the order of the machine, then the port.
func isAddress(text string, want netip.AddrPort) bool {
	host, port, _ := strings.Cut(text, ":")
	if number, err := strconv.ParseUint(port, 16, 16); err != nil || uint16(number) != want.Port() {
		return false
	}
	data, err := hex.DecodeString(host)
	if err != nil || len(data)%4 != 0 {
		return false
	}
	for word := range slices.Chunk(data, 4) {
		binary.NativeEndian.PutUint32(word, binary.BigEndian.Uint32(word))
	}
	address, ok := netip.AddrFromSlice(data)
	return ok && address.Unmap() == want.Addr().Unmap().WithZone("")
}
