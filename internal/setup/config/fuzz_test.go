package config

import (
	"errors"
	"testing"
)

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		everything, server(`{"command": "${A}", "env": {"${lower": 1}}`), string(defaultFile),
		"", "[]", "{", `{"toolboxes": {"": {"": ""}, "": 0}}`, "// x", "/*", "\uFEFF{}", `{"a": "\ud800"}`, "{\"a\": \"\xff\"}",
		`{"toolboxes":{"a":{"mcpServers":{"b":{"url":"http://u:p@h/?q=v","headers":{"A":"Bearer x"}}}}}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		cfg, err := Parse("fuzz.json", data, ParseOptions{Dir: "/d", Home: "/h", Lookup: lookupTest})
		if err == nil {
			checkValid(t, cfg)
			if _, err = Strict(cfg, nil); err == nil {
				return
			}
		}
		e, ok := errors.AsType[*Error](err)
		if !ok || e.File != "fuzz.json" || len(e.Problems) == 0 || e.Error() == "" {
			t.Fatalf("error %v", err)
		}
		line, column := 0, 0
		for _, p := range e.Problems {
			if p.Line < 1 || p.Column < 1 || p.Message == "" {
				t.Errorf("problem without position or message: %+v", p)
			}
			if p.Line < line || p.Line == line && p.Column < column {
				t.Errorf("problem out of order: %+v", p)
			}
			line, column = p.Line, p.Column
		}
	})
}

// checkValid checks what callers rely on.
func checkValid(t *testing.T, cfg *Config) {
	for _, box := range cfg.Toolboxes {
		if box.Name == "" {
			t.Error("toolbox without a name")
		}
		for _, s := range box.Servers {
			if s.Fault != nil {
				if s.Command != "" || s.URL != "" || s.Builtin != "" || len(s.Fault.Problems) == 0 {
					t.Errorf("faulty server that could run: %+v", s)
				}
				continue
			}
			given := 0
			for _, source := range []string{s.Command, s.URL, s.Builtin} {
				if source != "" {
					given++
				}
			}
			if given != 1 || s.Name == "" || s.Timeouts.Connect <= 0 || s.Timeouts.Call <= 0 || s.Timeouts.Idle < 0 && s.Timeouts.Idle != IdleUnset {
				t.Errorf("invalid server: %+v", s)
			}
		}
	}
	for _, secret := range cfg.Secrets {
		if len(secret) < 8 {
			t.Errorf("short secret %q", secret)
		}
	}
}
