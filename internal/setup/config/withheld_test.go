package config

import "testing"

// Of a user's file that cannot be used, only what it certainly says leaves a project's
// toolboxes unlocked.
func TestWithheld(t *testing.T) {
	for _, test := range []struct {
		name, data      string
		locked, assumed bool
	}{
		{"does not say it", `{"toolboxes": {"t": {}}}`, false, false},
		{"says no", `{"locked": false}`, false, false},
		{"says it", `{"locked": true, "toolboxes": 5}`, true, false},
		{"by an escape", `{"\u006cocked": true}`, true, false},
		{"with a byte order mark and a comment", "\uFEFF{/* */ \"locked\": true,}", true, false},
		{"says both", `{"locked": false, "locked": true}`, true, false},
		{"says both, in the other order", `{"locked": true, "locked": false}`, true, false},
		{"elsewhere", `{"toolboxes": {"locked": true}}`, false, false},
		{"no boolean", `{"locked": "true"}`, true, true},
		{"null", `{"locked": null}`, true, true},
		{"a key from a variable", `{"${KEY:-other}": true}`, true, true},
		{"bad JSON", `{"toolboxes": {}`, true, true},
		{"empty", ``, true, true},
		{"no object", `[]`, true, true},
		{"no UTF-8", "{\"a\": \"\xff\"}", true, true},
	} {
		cfg := Withheld("/user.json", &Source{Data: []byte(test.data)})
		if cfg.Locked != test.locked || cfg.LockAssumed != test.assumed || cfg.Path != "/user.json" {
			t.Errorf("%s: locked %v, assumed %v in %s", test.name, cfg.Locked, cfg.LockAssumed, cfg.Path)
		}
		if cfg.InheritEnv.All || len(cfg.InheritEnv.Patterns) > 0 {
			t.Errorf("%s: variables are inherited", test.name)
		}
	}
	if cfg := Withheld("/user.json", nil); !cfg.Locked || !cfg.LockAssumed {
		t.Error("a file that was not read does not lock")
	}
}
