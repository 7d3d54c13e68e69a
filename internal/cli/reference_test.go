package cli

import (
	"errors"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

func TestLocate(t *testing.T) {
	outline := &config.Preview{
		Toolboxes: []config.PreviewToolbox{{Name: "dev"}, {Name: "web"}, {Name: "a/b"}, {Name: "same"}},
		Servers: []config.PreviewServer{
			{Toolbox: "dev", Name: "git"},
			{Toolbox: "dev", Name: "shared"},
			{Toolbox: "web", Name: "shared"},
			{Toolbox: "a/b", Name: "c/d"},
			{Toolbox: "dev", Name: "same"},
		},
	}
	for _, tt := range []struct {
		ref  string
		want place
		code toolbox.Code
	}{
		{"dev", place{"dev", ""}, ""},
		{"dev/", place{"dev", ""}, ""},
		{"dev/git", place{"dev", "git"}, ""},
		{"git", place{"dev", "git"}, ""},
		{"web/shared", place{"web", "shared"}, ""},
		{"a/b", place{"a/b", ""}, ""},
		{"a/b/c/d", place{"a/b", "c/d"}, ""},
		{"c/d", place{"a/b", "c/d"}, ""},
		{"same/", place{"same", ""}, ""},
		{"dev/same", place{"dev", "same"}, ""},
		{"shared", place{}, toolbox.AmbiguousName},
		{"same", place{}, toolbox.AmbiguousName},
		{"web/git", place{}, toolbox.ReferenceNotFound},
		{"", place{}, toolbox.ReferenceNotFound},
	} {
		t.Run(tt.ref, func(t *testing.T) {
			got, err := locate(outline, tt.ref)
			var code toolbox.Code
			if known, ok := errors.AsType[*toolbox.Error](err); ok {
				code = known.Code
			}
			if got != tt.want || code != tt.code {
				t.Errorf("got %v, %v", got, err)
			}
			if err == nil {
				if again, err := locate(outline, got.String()); err != nil || again != got {
					t.Errorf("%s leads to %v, %v", got, again, err)
				}
			}
		})
	}
}
