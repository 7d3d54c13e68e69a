package sandbox

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestExplain(t *testing.T) {
	folder, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(folder, name) }
	for _, name := range []string{"readable", "writable", "secret"} {
		if err := os.Mkdir(at(name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(at("secret/key"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(at("writable"), at("readable/link")); err != nil {
		t.Skip(err)
	}
	plan := &Plan{Dir: folder, Read: []string{at("readable")}, Write: []string{at("writable")}}
	const toNetwork = `"network": true`
	for _, test := range []struct {
		line, what, fix string // what is "" if nothing is explained
	}{
		{"Error: EACCES: permission denied, open '" + at("secret/key") + "'", at("secret/key"), `"read"`},
		{"Error: EACCES: permission denied, mkdir '" + at("readable/x") + "'", at("readable/x"), `"write": ["` + at("readable") + `"]`},
		{"Error: EPERM: operation not permitted, chmod '" + at("readable") + "'", at("readable"), `"write": ["` + at("readable") + `"]`},
		{"Error: EACCES: permission denied, rename '" + at("secret/a") + "' -> '" + at("writable/b") + "'", at("secret/a"), `"write": ["` + at("secret") + `"]`},
		{"PermissionError: [Errno 13] Permission denied: '" + at("secret/key") + "'", at("secret/key"), `"read"`},
		{"open " + at("secret/key") + ": permission denied", at("secret/key"), `"read"`},
		{"sh: 1: cannot create " + at("readable/x") + ": Permission denied", at("readable/x"), `"write"`},
		{"touch: cannot touch '" + at("readable/x") + "': Permission denied", at("readable/x"), `"write"`},
		{"mkdir: cannot create directory ‘" + at("readable/x") + "’: Permission denied", at("readable/x"), `"write"`},
		{"npm error path " + at("readable/node_modules"), at("readable/node_modules"), `"write"`},
		{"EACCES: permission denied, open '" + at("writable/x") + "'", "", ""},
		{"EACCES: permission denied, open '" + at("readable/link/x") + "'", "", ""},
		{"cat: secret: Permission denied", at("secret"), `"read"`},
		{"sh: 1: cannot create new: Permission denied", at("new"), `"write": ["` + folder + `"]`},
		{"touch: cannot touch '" + at("secret/new") + "': Permission denied", at("secret/new"), `"write": ["` + at("secret") + `"]`},
		{"failed to open " + at("secret/new") + " for writing: Permission denied (os error 13): '" + at("secret/new") + "'", at("secret/new"), `"write": ["` + at("secret") + `"]`},
		{"Error: EACCES: permission denied, open '" + at("secret/new") + "'", at("secret/new"), `"write": ["` + at("secret") + `"]`},
		{"touch: cannot touch 'new': Permission denied", at("new"), `"write": ["` + folder + `"]`},
		{"ls: cannot open directory '" + at("readable") + "': Permission denied", "", ""},
		{"cat: " + at("readable/file") + ": Permission denied", "", ""},
		{"sudo: nothing: Permission denied", "", ""},
		{"everything is fine in " + at("secret"), "", ""},

		{"Error: connect EACCES 192.0.2.1:443 - Local (undefined:undefined)", "192.0.2.1:443", toNetwork},
		{"Error: listen EACCES: permission denied 127.0.0.1:3000", "127.0.0.1:3000", toNetwork},
		{"Error: getaddrinfo EAI_AGAIN registry.npmjs.org", "registry.npmjs.org", toNetwork},
		{"dial tcp 192.0.2.1:443: socket: permission denied", "192.0.2.1:443", toNetwork},
		{"dial tcp: lookup example.com on 127.0.0.53:53: dial udp 127.0.0.53:53: socket: permission denied", "127.0.0.53:53", toNetwork},
		{"socket.gaierror: [Errno -3] Temporary failure in name resolution", "the network", toNetwork},
		{"curl: (6) Could not resolve host: example.com", "the network", toNetwork},
		{"npm error request to https://registry.npmjs.org/x failed: cache mode is 'only-if-cached' but no cached response is available.", aPackage, "once (\"sandbox\": {" + toNetwork + "}), start it, then set it back"},
		{"npm error code ENOTCACHED", aPackage, "set it back"},
		{"Packages were unavailable because the network was disabled.", aPackage, "set it back"},
		{"dial unix /run/docker.sock: socket: permission denied", "/run/docker.sock", `"sandbox": false`},
		{"    _socket.socket.__init__(self, family, type, proto, fileno)", "a socket", toNetwork},
		{"ping: socket: Operation not permitted", "a socket", toNetwork},
		{"Error: connect EACCES /run/user/1000/bus", "/run/user/1000/bus", `"sandbox": false`},
	} {
		denials := plan.Explain([]string{"something else", test.line, test.line})
		switch {
		case test.what == "" && len(denials) > 0:
			t.Errorf("%q is explained by %+v", test.line, denials)
		case test.what != "" && (len(denials) != 1 || denials[0].What != test.what || !strings.Contains(denials[0].Fix, test.fix)):
			t.Errorf("%q is explained by %+v, want %q with %s", test.line, denials, test.what, test.fix)
		}
	}
	plan.Network = true
	if denials := plan.Explain([]string{"Error: connect EACCES 192.0.2.1:443", "Error: getaddrinfo EAI_AGAIN example.com"}); denials != nil {
		t.Errorf("with a network: %+v", denials)
	}
}
