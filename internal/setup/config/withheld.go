package config

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"
)

// Withheld returns the settings of a project's toolboxes while the user's own file at path cannot be used. The user's
// restrictions are unknown then, so nothing is looser than the default: everything is locked unless the file certainly
// does not set 'locked', every tool is denied unless the file certainly has no policy, a sandbox that the file may have allows nothing, and calls are recorded, in the usual folder, if
// the file may say so. source is nil if nothing
// could be read.
func Withheld(path string, source *Source) *Config {
	cfg := Empty()
	cfg.Path = path
	cfg.Locked, cfg.LockAssumed = source.demandsLock()
	if source.mayHavePolicy() {
		cfg.Policy = assumedPolicy(path)
	}
	cfg.Sandbox = source.assumedSandbox()
	cfg.Audit.On = source.mentions(auditKey.name)
	cfg.Audit.Required = cfg.Audit.On && source.mentions("required")
	return cfg
}

// mentions reports whether a word stands in an unusable file.
func (s *Source) mentions(word string) bool { return s != nil && bytes.Contains(s.Data, []byte(word)) }

// unexpanded returns the root of an unusable file; ok is false without one. Variables are not expanded, since their
// file may be the cause.
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
	g := &treeBuilder{lookup: func(string) (string, bool) { return "", false }, report: r, secrets: &secrets{}}
	root = g.value(parsed, rootPath, false)
	return root, root.kind == kindObject
}

// mayHavePolicy reports whether an unusable file has, or may have, a policy.
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
		return mayMeanPolicy(m.raw) || strings.Contains(m.raw, "${") // which may become the key
	})
}

// demandsLock reports whether an unusable file sets 'locked', and whether that is only assumed because it cannot be
// determined.
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
