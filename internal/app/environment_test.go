package app

import (
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

func TestConfigInAnotherEnvironment(t *testing.T) {
	own := &config.Config{Path: "own.json", Toolboxes: []config.Toolbox{{Name: "T"}, {Name: "U"}}}
	same := &config.Config{Toolboxes: []config.Toolbox{{Name: "T"}, {Name: "U"}}}
	some := &config.Config{Toolboxes: []config.Toolbox{{Name: "T"}}}
	fault := &config.Error{File: "own.json", Problems: []config.Problem{{Message: "X is not set"}}}
	for _, test := range []struct {
		name string
		cfg  *config.Config
		err  error
		want *config.Config
		text string
	}{
		{"the same", same, nil, nil, ""},
		{"another", some, nil, some, ""},
		{"none", nil, fault, nil, "X is not set"},
		{"one of two files", some, errors.Join(fault), some, "X is not set"},
		{"another error", nil, errors.New("no folder"), nil, "own.json: cannot be read with the environment variables of this client: no folder"},
		{"files that nobody can use", same, fault, nil, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			a := &App{log: slog.New(slog.DiscardHandler), load: func([]string) (*config.Config, error) { return test.cfg, test.err }}
			got, unread := a.configIn([]string{"A=b"}, own)
			if got != test.want {
				t.Errorf("the configuration is %v, want %v", got, test.want)
			}
			if (unread == nil) != (test.text == "") || unread != nil && !strings.Contains(unread.Brief(), test.text) {
				t.Errorf("it cannot be read because of %v, want %q", unread, test.text)
			}
		})
	}
}
