package daemon

import (
	"testing"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

func TestKey(t *testing.T) {
	base := func() Identity {
		return Identity{
			Version: "1.0.0", Build: Build{"/bin/x", 10, time.Unix(1, 2)},
			Config:  &config.Config{Variables: []string{"DATABASE", "MODE"}, OuterVariables: []string{"MODE"}},
			Places:  []config.Place{{Path: "/c.json", Origin: config.User}},
			Environ: []string{"PATH=/bin", "HOME=/h", "PWD=/a", "DATABASE=one", "SECRET_TOKEN=s", "MODE=1", "OTHER=1"},
		}
	}
	set := func(entry string) func(*Identity) {
		return func(i *Identity) { i.Environ = append(i.Environ, entry) }
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
		{"PATH", func(i *Identity) { i.Environ[0] = "PATH=/usr/bin" }, true},
		{"variable of a server", func(i *Identity) { i.Environ[3] = "DATABASE=two" }, true},
		{"variable of the file", func(i *Identity) { i.Environ[5] = "MODE=2" }, false},
		{"variable of the file that is not set", func(i *Identity) { i.Environ[5] = "X=two" }, false},
		{"home folder", func(i *Identity) { i.Environ[1] = "HOME=/i" }, false},
		{"proxy", set("https_proxy=http://h"), false},
		{"certificate authority", set("NODE_EXTRA_CA_CERTS=/ca.pem"), false},
		{"variable that servers inherit", set("TZ=UTC"), true},
		{"other variable", set("HELLO=1"), true},
		{"order of the variables", func(i *Identity) { i.Environ[0], i.Environ[5] = i.Environ[5], i.Environ[0] }, true},
	}
	want := base().Key()
	for _, test := range tests {
		i := base()
		test.change(&i)
		if got := i.Key(); (got == want) != test.same {
			t.Errorf("%s: the same key: %t, want %t", test.name, got == want, test.same)
		}
	}
}
