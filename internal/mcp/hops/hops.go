// Package hops marks the connections that workbenches make, so that one that is reached through
// itself notices: its servers would lead to themselves without end.
package hops

import (
	"cmp"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// Where the mark stands: in a header of every HTTP request, since requests of the modern era have
// no session; and in the _meta of initialize and server/discover, which whatever only forwards
// messages passes on.
const (
	Meta   = "mcp-workbench/hops"
	Header = "Mcp-Workbench-Hops"
)

// None is the mark of a client that has no workbench before it, and is none, such as a bridge. It
// tells such a client from a workbench that has not shown its mark yet.
const None = "-"

// Max is how many workbenches may stand in a row.
const Max = 8

// A hop is a random number, a hash of it with the configuration's file, and one with the server's
// name, in hexadecimal digits. Only who has the key can tell which file and which name they
// are of, or that two hops are of the same.
const (
	nonceSize = 8
	fileSize  = 8
	nameSize  = 4
	hopLength = 2 * (nonceSize + fileSize + nameSize)
	separator = ","
	// maxChain is how long a mark may be. One that is longer has too many hops.
	maxChain = Max * (hopLength + len(separator))
)

// Self is a workbench as a hop.
type Self struct {
	key   func() []byte
	nonce string
}

// New makes a workbench's self. key is called when it is first needed; it returns what all
// workbenches of the user share, and nobody else has.
func New(key func() []byte) *Self {
	var nonce [nonceSize]byte
	rand.Read(nonce[:]) // never fails
	return &Self{key: sync.OnceValue(key), nonce: hex.EncodeToString(nonce[:])}
}

// Extend returns the mark of a connection to a server that a file configures, made for a client
// whose own connection has the mark chain; "" for one that is no workbench. Without a file,
// as for a bridge, nothing is added.
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

// Chain returns the hops of a mark; "" if there are none.
func Chain(mark string) string {
	if mark == None {
		return ""
	}
	return mark
}

// Count returns how many workbenches have left their mark.
func Count(chain string) int {
	if chain == "" {
		return 0
	}
	return strings.Count(chain, separator) + 1
}

// Server is a configured server that a loop may lead through.
type Server struct{ Toolbox, Name string }

// Workbench is what one is recognised by.
type Workbench struct {
	Files   []string // of its configuration
	Servers []Server // that a loop may lead through
	Toolbox string   // the only one that is served; "": all
}

// Check refuses a client that the workbench is reached through itself by, and one that has too
// many workbenches before it. Where only one toolbox is served, servers of others may lead to
// it: they are not reached from here.
func (s *Self) Check(chain string, own Workbench) error {
	if Chain(chain) == "" {
		return nil
	}
	if len(chain) > maxChain || Count(chain) > Max {
		return fmt.Errorf("more than %d workbenches stand in a row before this one: take out one of the servers that lead here", Max)
	}
	var passed []int
	for hop := range strings.SplitSeq(chain, separator) {
		if len(hop) != hopLength {
			continue // of another version
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

// hash is equal for the same words and nonce only; one word and two never are.
func (s *Self) hash(nonce string, size int, words ...string) string {
	mac := hmac.New(sha256.New, s.key())
	fmt.Fprintf(mac, "%s %q", nonce, words)
	return hex.EncodeToString(mac.Sum(nil)[:size])
}

// LoopError says that a workbench is reached through itself.
type LoopError struct {
	Server // that leads back; without a name if it is not configured any more
}

func (e *LoopError) Error() string {
	if e.Name == "" {
		return "one of the servers of this workbench leads back to this workbench: remove it from the configuration"
	}
	return fmt.Sprintf("server '%s' in toolbox '%s' leads back to this workbench: remove it from the configuration", e.Name, e.Toolbox)
}
