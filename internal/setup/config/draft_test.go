package config

import (
	"path/filepath"
	"testing"
)

const withVariable = `{"toolboxes": {"t": {"description": "d", "mcpServers": {"s": {"command": "${PROGRAM}"}}}}}`

func TestDraft(t *testing.T) {
	path := filepath.Join(t.TempDir(), fileName)
	for _, tt := range []struct {
		name    string
		env     []byte
		environ []string
		want    string // the command; "" if it does not load
	}{
		{"a variable beside it", []byte("PROGRAM=x\n"), nil, "x"},
		{"the environment wins", []byte("PROGRAM=x\n"), []string{"PROGRAM=y"}, "y"},
		{"no variables", nil, nil, ""},
		{"a broken file of variables", []byte("PROGRAM\n"), []string{"PROGRAM=y"}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cfg, err := Draft(path, []byte(withVariable), tt.env).Load(tt.environ)
			if err != nil {
				if tt.want != "" {
					t.Error(err)
				}
				return
			}
			if got := cfg.Toolboxes[0].Servers[0].Command; got != tt.want || len(cfg.Warnings) > 0 {
				t.Errorf("got %q, %v", got, cfg.Warnings)
			}
		})
	}
}

func TestNotYet(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, fileName)
	source, err := DraftOfMissing(path)
	if err != nil || source.EnvInfo != nil {
		t.Errorf("without variables: %+v, %v", source, err)
	}
	write(t, dir, EnvFileName, "A=1\n", 0o600)
	source, err = DraftOfMissing(path)
	if err != nil {
		t.Fatal(err)
	}
	vars, err := source.Variables([]string{"B=2"})
	if err != nil || vars["A"] != "1" || vars["B"] != "2" {
		t.Errorf("variables: %v, %v", vars, err)
	}
	if got := EnvPath(path); got != filepath.Join(dir, EnvFileName) {
		t.Error(got)
	}
}
