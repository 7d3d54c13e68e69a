package daemon

import (
	"testing"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/config"
)

func TestKey(t *testing.T) {
	base := func() Identity {
		return Identity{
			Version: "1.0.0", Build: Build{"/bin/x", 10, time.Unix(1, 2)},
			Config:  &config.Config{Variables: []string{"DATABASE"}},
			Places:  []config.Place{{Path: "/c.json", Origin: config.User}},
			Environ: []string{"PATH=/bin", "TERM=xterm", "PWD=/a", "DATABASE=one", "SECRET_TOKEN=s", "XDG_SESSION_ID=1", "OTHER=1"},
		}
	}
	set := func(entry string) func(*Identity) {
		return func(i *Identity) { i.Environ = append(i.Environ, entry) }
	}
	inherit := func(entry string, env config.InheritEnv, disabled bool) func(*Identity) {
		return func(i *Identity) {
			i.Config.Toolboxes = []config.Toolbox{{Servers: []config.Server{{InheritEnv: env, Disabled: disabled}}}}
			if entry != "" {
				i.Environ = append(i.Environ, entry)
			}
		}
	}
	tests := []struct {
		name   string
		change func(*Identity)
		same   bool
	}{
		{"nothing", func(*Identity) {}, true},
		{"version", func(i *Identity) { i.Version = "1.0.1" }, false},
		{"program", func(i *Identity) { i.Build.path = "/usr/bin/x" }, false},
		{"size", func(i *Identity) { i.Build.size = 11 }, false},
		{"date", func(i *Identity) { i.Build.modified = time.Unix(1, 3) }, false},
		{"file", func(i *Identity) { i.Places[0].Path = "/d.json" }, false},
		{"content", func(i *Identity) { i.Config.ToolMode = config.Direct }, true},
		{"how it was found", func(i *Identity) { i.Places[0].Origin = config.Local }, false},
		{"named instead of found", func(i *Identity) { i.Places[0].Origin = config.Named }, true},
		{"a project's file on top", func(i *Identity) {
			i.Places = []config.Place{{Path: "/p/c.json", Origin: config.Local}, i.Places[0]}
		}, false},
		{"toolbox", func(i *Identity) { i.Toolbox = "dev" }, false},
		{"variable of the file", func(i *Identity) { i.Environ[3] = "DATABASE=two" }, false},
		{"variable of the file that is not set", func(i *Identity) { i.Environ[3] = "X=two" }, false},
		{"inherited variable", set("LANG=de"), false},
		{"other variable", set("HELLO=1"), true},
		{"secret that no server gets", func(i *Identity) { i.Environ[4] = "SECRET_TOKEN=t" }, true},
		{"terminal", func(i *Identity) { i.Environ[1] = "TERM=dumb" }, true},
		{"session of the desktop", func(i *Identity) { i.Environ[5] = "XDG_SESSION_ID=2" }, true},
		{"terminal that the file asks for", func(i *Identity) { i.Config.Variables = []string{"DATABASE", "TERM"} }, false},
		{"pattern that nothing matches", inherit("", config.InheritEnv{Patterns: []string{"AWS_*"}}, false), true},
		{"pattern that something matches", inherit("AWS_REGION=x", config.InheritEnv{Patterns: []string{"AWS_*"}}, false), false},
		{"pattern of a disabled server", inherit("AWS_REGION=x", config.InheritEnv{Patterns: []string{"AWS_*"}}, true), true},
		{"everything", inherit("", config.InheritEnv{All: true}, false), false},
		{"order of the variables", func(i *Identity) { i.Environ[0], i.Environ[3] = i.Environ[3], i.Environ[0] }, true},
	}
	want := base().Key()
	for _, test := range tests {
		i := base()
		test.change(&i)
		if got := i.Key(); (got == want) != test.same {
			t.Errorf("%s: the same key: %t, want %t", test.name, got == want, test.same)
		}
	}
	everywhere := func(folder string) string {
		i := base()
		inherit("", config.InheritEnv{All: true}, false)(&i)
		i.Environ[2] = "PWD=" + folder
		return i.Key()
	}
	if everywhere("/a") != everywhere("/b") {
		t.Error("the folder keeps clients apart whose servers inherit everything")
	}
}
