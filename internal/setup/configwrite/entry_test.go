package configwrite

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
		want Entry
		code toolbox.Code
	}{
		{"dev", Entry{"dev", ""}, ""},
		{"dev/", Entry{"dev", ""}, ""},
		{"dev/git", Entry{"dev", "git"}, ""},
		{"git", Entry{"dev", "git"}, ""},
		{"web/shared", Entry{"web", "shared"}, ""},
		{"a/b", Entry{"a/b", ""}, ""},
		{"a/b/c/d", Entry{"a/b", "c/d"}, ""},
		{"c/d", Entry{"a/b", "c/d"}, ""},
		{"same/", Entry{"same", ""}, ""},
		{"dev/same", Entry{"dev", "same"}, ""},
		{"shared", Entry{}, toolbox.AmbiguousName},
		{"same", Entry{}, toolbox.AmbiguousName},
		{"web/git", Entry{}, toolbox.ReferenceNotFound},
		{"", Entry{}, toolbox.ReferenceNotFound},
	} {
		t.Run(tt.ref, func(t *testing.T) {
			got, err := Locate(outline, tt.ref)
			var code toolbox.Code
			if known, ok := errors.AsType[*toolbox.Error](err); ok {
				code = known.Code
			}
			if got != tt.want || code != tt.code {
				t.Errorf("got %v, %v", got, err)
			}
			if err == nil {
				if again, err := Locate(outline, got.String()); err != nil || again != got {
					t.Errorf("%s leads to %v, %v", got, again, err)
				}
			}
		})
	}
}
