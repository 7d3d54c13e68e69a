package browser

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestFind(t *testing.T) {
	for _, test := range []struct {
		name    string
		system  string
		env     map[string]string
		present []string // programs on the PATH
		want    string   // commands for the page http://x/
		fails   string
	}{
		{"own program", "linux", map[string]string{"BROWSER": "firefox"}, nil, "firefox http://x/", ""},
		{"arguments", "linux", map[string]string{"BROWSER": "firefox --new-window"}, nil, "firefox --new-window http://x/", ""},
		{"place of the address", "linux", map[string]string{"BROWSER": "chromium --app=%s --user"}, nil, "chromium --app=http://x/ --user", ""},
		{"several", "linux", map[string]string{"BROWSER": "firefox:w3m -N"}, nil, "firefox http://x/|w3m -N http://x/", ""},
		{"path with blanks", "linux", map[string]string{"BROWSER": "/opt/my browser/run"}, []string{"/opt/my browser/run"}, "/opt/my browser/run http://x/", ""},
		{"quotes", "linux", map[string]string{"BROWSER": `sh -c "echo 'a:b'  > x" '' it"s one"`}, nil, "sh -c echo 'a:b'  > x  its one http://x/", ""},
		{"quoted program", "linux", map[string]string{"BROWSER": `"/opt/my browser/run" --new:w3m`}, nil, "/opt/my browser/run --new http://x/|w3m http://x/", ""},
		{"open quote", "linux", map[string]string{"BROWSER": `firefox "a b`}, nil, "firefox a b http://x/", ""},
		{"nothing", "linux", map[string]string{"BROWSER": ` : `}, nil, "", ""},
		{"over SSH", "linux", map[string]string{"BROWSER": "code --open", "SSH_TTY": "/dev/pts/1"}, nil, "code --open http://x/", ""},
		{"Linux with a display", "linux", map[string]string{"DISPLAY": ":0"}, []string{"xdg-open"}, "xdg-open http://x/", ""},
		{"SSH with a display", "linux", map[string]string{"DISPLAY": ":10", "SSH_CONNECTION": "1"}, []string{"xdg-open"}, "xdg-open http://x/", ""},
		{"no display", "linux", nil, []string{"xdg-open"}, "", "there is no display"},
		{"SSH", "linux", map[string]string{"SSH_CONNECTION": "1"}, []string{"xdg-open"}, "", "over SSH"},
		{"no opener", "linux", map[string]string{"WAYLAND_DISPLAY": "w"}, nil, "", "xdg-open is not installed"},
		{"WSL", "linux", map[string]string{"WSL_DISTRO_NAME": "Debian"}, []string{"wslview", "xdg-open"}, "wslview http://x/|xdg-open http://x/", ""},
		{"WSL without an opener", "linux", map[string]string{"WSL_DISTRO_NAME": "Debian"}, nil, "", "wslview or xdg-open is not installed"},
		{"macOS", "darwin", nil, nil, "open http://x/", ""},
		{"macOS over SSH", "darwin", map[string]string{"SSH_TTY": "1"}, nil, "", "over SSH"},
		{"Windows", "windows", nil, nil, "rundll32 url.dll,FileProtocolHandler http://x/", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			lookPath := func(name string) (string, error) {
				if slices.Contains(test.present, name) {
					return name, nil
				}
				return "", exec.ErrNotFound
			}
			opener, err := find(func(name string) string { return test.env[name] }, test.system, lookPath)
			if test.fails != "" {
				if err == nil || !strings.Contains(err.Error(), test.fails) {
					t.Fatalf("the error is %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, c := range opener.commands {
				got = append(got, strings.Join(c.with("http://x/"), " "))
			}
			if strings.Join(got, "|") != test.want {
				t.Errorf("it runs %q", got)
			}
		})
	}
}

func TestWordsOfBrowser(t *testing.T) {
	missing := func(string) (string, error) { return "", exec.ErrNotFound }
	got := parse(`sh -c "echo 'a:b'  > x" '' it"s one":w3m`, missing)
	want := []command{{"sh", "-c", "echo 'a:b'  > x", "", "its one"}, {"w3m"}}
	if !slices.EqualFunc(got, want, slices.Equal[command]) {
		t.Errorf("got %q", got)
	}
}

func TestOpen(t *testing.T) {
	folder := t.TempDir()
	program := filepath.Join(folder, "program")
	seen := filepath.Join(folder, "seen")
	if err := os.WriteFile(program, []byte("#!/bin/sh\nprintf '%s|' \"$@\" >"+seen+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	// The address is one argument, whatever is in it: no shell reads it.
	const address = "http://127.0.0.1:1/go/x?a=$(id)&b=`id`;c"
	opener := &Opener{[]command{{filepath.Join(folder, "missing")}, {"false"}, {program, "--new"}}}
	if err := <-opener.Open(address); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(seen)
	if err != nil || string(got) != "--new|"+address+"|" {
		t.Errorf("it was started with %q, %v", got, err)
	}
	opener = &Opener{[]command{{filepath.Join(folder, "missing")}, {"false"}}}
	err = <-opener.Open(address)
	if want := filepath.Join(folder, "missing") + ": not found; false: exit status 1"; err == nil || err.Error() != want {
		t.Errorf("the error is %v, want %s", err, want)
	}
	for _, address := range []string{"file:///etc/passwd", "javascript:alert(1)", "-x", "http://", ""} {
		if err := <-opener.Open(address); err == nil || !strings.Contains(err.Error(), "only pages") {
			t.Errorf("%q is opened: %v", address, err)
		}
	}
}
