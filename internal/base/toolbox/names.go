package toolbox

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// Separator separates the parts of a native name.
const Separator = "__"

// nativeLimit is the longest native name that all clients accept, in bytes; longer ones are shortened.
const nativeLimit = 64

// NativeName returns the native name of a tool, {toolbox}__{server}__{tool}. Where clients would reject that, it
// returns a short form that is the same on every machine.
func (r Ref) NativeName() string {
	full := r.Toolbox + Separator + r.Server + Separator + r.Name
	if len(full) <= nativeLimit && strings.IndexFunc(full, isForeign) < 0 {
		return full
	}
	sum := sha256.Sum256([]byte(full))
	suffix := "_" + hex.EncodeToString(sum[:4])
	short := strings.Map(func(r rune) rune {
		if isForeign(r) {
			return '_'
		}
		return r
	}, full)
	return short[:min(len(short), nativeLimit-len(suffix))] + suffix
}

func isForeign(r rune) bool {
	switch {
	case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '_', r == '-':
		return false
	}
	return true
}

// ParseNativeName splits a native name at its first two separators; the tool name keeps any further ones. The parts of
// a short form do not name a tool.
func ParseNativeName(name string) (Ref, bool) {
	parts := strings.SplitN(name, Separator, 3)
	if len(parts) != 3 || parts[0] == "" || parts[1] == "" || parts[2] == "" {
		return Ref{}, false
	}
	return Ref{Toolbox: parts[0], Server: parts[1], Name: parts[2]}, true
}
