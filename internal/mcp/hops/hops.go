// Package hops marks the connections that workbenches make, so that a workbench that is reached through itself notices.
// Otherwise its servers would connect to themselves without end.
package hops

import (
	"cmp"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// Where the mark is sent: in a header of every HTTP request, since requests of the modern era have no session, and in
// the _meta of initialize and server/discover, which programs that only forward messages preserve.
const (
	Meta   = "mcp-workbench/hops"
	Header = "Mcp-Workbench-Hops"
)

// None is the mark of a client that is not a workbench and has none before it, such as a bridge. It distinguishes that
// client from a workbench that has not sent its mark yet.
const None = "-"

// Max is how many workbenches can be chained.
const Max = 8

// A hop is a random number, a hash of it with the path of the configuration file, and a hash of it with the name of the
// server, in hexadecimal. Only with the key can the file and the name be recognised, or two hops of the same be
// matched.
const (
	nonceSize = 8
	fileSize  = 8
	nameSize  = 4
	hopLength = 2 * (nonceSize + fileSize + nameSize)
	separator = ","
	// maxChain is the longest valid mark, in bytes. A longer one has too many hops and is refused.
	maxChain = Max * (hopLength + len(separator))
)

// Self is a workbench as a hop.
type Self struct {
	key   func() []byte
	nonce string
}

// New returns the hop of this workbench. key returns the key that all workbenches of the user share, and nobody else
// has; it is called on first use.
func New(key func() []byte) *Self {
	var nonce [nonceSize]byte
	rand.Read(nonce[:]) // never fails
	return &Self{key: sync.OnceValue(key), nonce: hex.EncodeToString(nonce[:])}
}

// Extend returns the mark of a connection to a server that a file configures. chain is the mark of the client for which
// the connection is made, or "" for a client that is not a workbench. Without a file, as for a bridge, no hop is added.
func (s *Self) Extend(chain, file, toolbox, server string) string {
	if s == nil || file == "" {
		return cmp.Or(chain, None)
	}
	hop := s.nonce + s.hash(s.nonce, fileSize, file) + s.hash(s.nonce, nameSize, toolbox, server)
	if chain == "" {
		return hop
	}
	return chain + separator + hop
}

// Chain returns the hops of a mark, or "".
func Chain(mark string) string {
	if mark == None {
		return ""
	}
	return mark
}

// Count returns the number of hops.
func Count(chain string) int {
	if chain == "" {
		return 0
	}
	return strings.Count(chain, separator) + 1
}

// Server is a configured server that a loop can lead through.
type Server struct{ Toolbox, Name string }

// Workbench is what a workbench recognises its own hops by.
type Workbench struct {
	Files   []string // paths of its configuration
	Servers []Server // servers that a loop can lead through
	Toolbox string   // the only toolbox served; "": all
}

// Check refuses a client through which the workbench reaches itself, and one with too many workbenches before it. Where
// only one toolbox is served, servers of other toolboxes may lead to it: they cannot be reached from here.
func (s *Self) Check(chain string, own Workbench) error {
	if Chain(chain) == "" {
		return nil
	}
	if len(chain) > maxChain || Count(chain) > Max {
		return fmt.Errorf("more than %d workbenches are chained before this one: remove one of the servers that lead here", Max)
	}
	if strings.Trim(chain, "0123456789abcdef"+separator) != "" { // it would be passed on to servers
		return errors.New("the mark of the client's connection is not one of a workbench; leave out the header " + Header)
	}
	var passed []int
	for hop := range strings.SplitSeq(chain, separator) {
		if len(hop) != hopLength {
			continue // from another version
		}
		nonce, file, name := hop[:2*nonceSize], hop[2*nonceSize:2*(nonceSize+fileSize)], hop[2*(nonceSize+fileSize):]
		if !slices.ContainsFunc(own.Files, func(path string) bool { return s.hash(nonce, fileSize, path) == file }) {
			continue
		}
		i := slices.IndexFunc(own.Servers, func(server Server) bool { return s.hash(nonce, nameSize, server.Toolbox, server.Name) == name })
		switch {
		case i < 0:
			return &LoopError{}
		case own.Toolbox == "" || own.Servers[i].Toolbox == own.Toolbox || slices.Contains(passed, i):
			return &LoopError{own.Servers[i]}
		}
		passed = append(passed, i)
	}
	return nil
}

// hash is equal only for the same words and nonce; one word never equals two.
func (s *Self) hash(nonce string, size int, words ...string) string {
	mac := hmac.New(sha256.New, s.key())
	fmt.Fprintf(mac, "%s %q", nonce, words)
	return hex.EncodeToString(mac.Sum(nil)[:size])
}

// LoopError means that a workbench is reached through itself.
type LoopError struct {
	Server // the server that leads back; without a name if it is no longer configured
}

func (e *LoopError) Error() string {
	if e.Name == "" {
		return "one of the servers of this workbench leads back to this workbench: remove it from the configuration"
	}
	return fmt.Sprintf("server '%s' in toolbox '%s' leads back to this workbench: remove it from the configuration", e.Name, e.Toolbox)
}
