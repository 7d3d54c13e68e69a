package config

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"
)

// Withheld returns the settings that hold for a project's toolboxes while the user's own file at
// path cannot be read as a configuration. Nobody knows then what the user demands, so that
// nothing is looser than by default, and everything is locked unless the file certainly does
// not say so; so every tool is denied unless the file certainly has no policy. Source is what was read of the file; nil if nothing was.
func Withheld(path string, source *Source) *Config {
	cfg := Empty()
	cfg.Path = path
	cfg.Locked, cfg.LockAssumed = source.demandsLock()
	if source.mayHavePolicy() {
		cfg.Policy = assumedPolicy(path)
	}
	return cfg
}

// unexpanded returns the root of a file that cannot be used; ok is false if it has none. Variables are not expanded: their
// file may be what is wrong.
func (s *Source) unexpanded() (root node, ok bool) {
	if s == nil {
		return root, false
	}
	data := bytes.TrimPrefix(s.Data, byteOrderMark)
	r := newReport(data)
	parsed, ok := parseSyntax(data, r)
	if !ok {
		return root, false
	}
	g := &grower{lookup: func(string) (string, bool) { return "", false }, report: r, secrets: &secrets{}}
	root = g.value(parsed, rootPath, false)
	return root, root.kind == kindObject
}

// mayHavePolicy reports whether a file that cannot be used has a policy, or may have one.
func (s *Source) mayHavePolicy() bool {
	if s == nil {
		return true
	}
	root, ok := s.unexpanded()
	if !ok { // then the key would still stand in the text, as it is or by an escape or a variable
		return !utf8.Valid(s.Data) || slices.ContainsFunc([]string{policyKey.name, `\u`, "${"}, func(part string) bool {
			return bytes.Contains(s.Data, []byte(part))
		})
	}
	return slices.ContainsFunc(root.members, func(m member) bool {
		return m.raw == policyKey.name || strings.Contains(m.raw, "${") // which may become the key
	})
}

// demandsLock reports whether a file that cannot be used says 'locked', and whether that is
// only assumed, since it cannot be told.
func (s *Source) demandsLock() (locked, assumed bool) {
	root, ok := s.unexpanded()
	if !ok {
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
