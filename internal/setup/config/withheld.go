package config

import (
	"bytes"
	"strings"
)

// Withheld returns the settings that hold for a project's toolboxes while the user's own file at
// path cannot be read as a configuration. Nobody knows then what the user demands, so that
// nothing is looser than by default, and everything is locked unless the file certainly does
// not say so. Source is what was read of the file; nil if nothing was.
func Withheld(path string, source *Source) *Config {
	cfg := Empty()
	cfg.Path = path
	cfg.Locked, cfg.LockAssumed = source.demandsLock()
	return cfg
}

// demandsLock reports whether a file that cannot be used says 'locked', and whether that is
// only assumed, since it cannot be told. Variables are not expanded: their file may be what is
// wrong.
func (s *Source) demandsLock() (locked, assumed bool) {
	if s == nil {
		return true, true
	}
	data := bytes.TrimPrefix(s.Data, byteOrderMark)
	r := newReport(data)
	parsed, ok := parseSyntax(data, r)
	if !ok {
		return true, true
	}
	g := &grower{lookup: func(string) (string, bool) { return "", false }, report: r, secrets: &secrets{}}
	root := g.value(parsed, rootPath, false)
	if root.kind != kindObject {
		return true, true
	}
	for _, m := range root.members {
		switch {
		case strings.Contains(m.raw, "${"): // it may become the key
			locked, assumed = true, true
		case m.raw != "locked":
		case m.value.isTrue():
			return true, false
		case m.value.kind != kindBoolean:
			locked, assumed = true, true
		}
	}
	return locked, assumed
}
