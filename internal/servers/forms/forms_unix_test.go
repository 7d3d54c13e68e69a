//go:build unix

package forms

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	system "github.com/zalando/go-keyring"

	"github.com/mcp-workbench/mcp-workbench/internal/servers/process"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/test/selfserver"
)

func TestMain(m *testing.M) { selfserver.Main(m) }

func newResolver(t *testing.T) *Resolver {
	t.Helper()
	host := process.NewHost(process.HostOptions{})
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := host.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	return New(host)
}

// run is a form whose command is a script for sh.
func run(dir, script string) config.Form {
	return config.Form{Kind: config.FormExec, Text: "${exec:sh -c '" + script + "'}", Words: []string{"sh", "-c", script}, Dir: dir}
}

func count(t *testing.T, file string) int {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return len(data)
}

func TestCommands(t *testing.T) {
	r, dir := newResolver(t), t.TempDir()
	for _, test := range []struct{ name, script, want, wrong string }{
		{"output", "printf 'a b\\n'", "a b", ""},
		{"one newline is cut", "printf 'a\\n\\n'", "a\n", ""},
		{"newline of Windows", "printf 'a\\r\\n'", "a", ""},
		{"folder", "pwd -P", dir, ""},
		{"no input", "cat; echo end", "end", ""},
		{"environment", `echo "$VAULT_TOKEN"`, "of-the-shell", ""},
		{"largest", "head -c 65536 /dev/zero | tr '\\0' x", strings.Repeat("x", maxValue), ""},
		{"too large", "head -c 65537 /dev/zero | tr '\\0' x", "", "prints more than 64 KiB"},
		{"endless", "yes", "", "prints more than 64 KiB"},
		{"fails", "echo secret-output; echo secret-error >&2; exit 3", "", "exited with code 3"},
		{"is killed", "kill -9 $$", "", "was killed by"},
		{"nothing", ":", "", "it is empty"},
		{"bytes", "printf '\\377'", "", "not UTF-8"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if resolved, err := filepath.EvalSymlinks(dir); err == nil && test.want == dir {
				test.want = resolved
			}
			got, err := r.Value(t.Context(), run(dir, test.script), append(os.Environ(), "VAULT_TOKEN=of-the-shell"))
			if test.wrong == "" && (err != nil || got != test.want) {
				t.Errorf("got %.50q, %v", got, err)
			}
			if test.wrong != "" {
				if err == nil || !strings.Contains(err.Error(), test.wrong) {
					t.Errorf("got %.50q, %v", got, err)
				}
				if err != nil && strings.Contains(fmt.Sprintf("%+v", err), "secret-") {
					t.Errorf("the output is in the error: %v", err)
				}
			}
		})
	}
	_, err := r.Value(t.Context(), config.Form{Kind: config.FormExec, Text: "${exec:no-such-program-here}", Words: []string{"no-such-program-here"}, Dir: dir}, nil)
	if missing, ok := errors.AsType[*Error](err); !ok || missing.Hint == "" {
		t.Error(err)
	}
}

// What a command that is not a shell gets is not looked at by a shell either.
func TestNoShell(t *testing.T) {
	form := config.Form{Kind: config.FormExec, Text: "x", Words: []string{"printf", "%s", "$(id) `id` $HOME ; id"}, Dir: t.TempDir()}
	got, err := newResolver(t).Value(t.Context(), form, nil)
	if err != nil || got != "$(id) `id` $HOME ; id" {
		t.Error(got, err)
	}
}

func TestCommandThatTakesTooLong(t *testing.T) {
	r, dir := newResolver(t), t.TempDir()
	for name, script := range map[string]string{"does not end": "trap '' TERM; echo x; sleep 4250", "closes its output": "exec >&-; sleep 4251"} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
			defer cancel()
			begun := time.Now()
			_, err := r.Value(ctx, run(dir, script), nil)
			if err == nil || !strings.Contains(err.Error(), "has not ended in time") {
				t.Error(err)
			}
			if took := time.Since(begun); took > 5*time.Second {
				t.Errorf("it took %v", took)
			}
		})
	}
}

func TestOutputIsKept(t *testing.T) {
	r, dir := newResolver(t), t.TempDir()
	runs := filepath.Join(dir, "runs")
	form := run(dir, `printf . >> runs; echo "value of $ACCOUNT"`)
	value := func(account, want string) {
		t.Helper()
		got, err := r.Value(t.Context(), form, append(os.Environ(), "ACCOUNT="+account))
		if err != nil || got != want {
			t.Errorf("got %q, %v", got, err)
		}
	}
	var all sync.WaitGroup
	for range 10 { // at once
		all.Go(func() { value("one", "value of one") })
	}
	all.Wait()
	value("one", "value of one")
	if n := count(t, runs); n != 1 {
		t.Errorf("it ran %d times", n)
	}
	value("two", "value of two") // another environment
	if n := count(t, runs); n != 2 {
		t.Errorf("it ran %d times", n)
	}
	r.Forget([]config.Form{form}, append(os.Environ(), "ACCOUNT=one"))
	value("one", "value of one")
	value("two", "value of two")
	if n := count(t, runs); n != 3 {
		t.Errorf("it ran %d times", n)
	}
	r.mu.Lock()
	for _, known := range r.cached {
		if left := time.Until(known.until); left <= 0 || left > cacheTime {
			t.Errorf("it is kept for %v", left)
		}
		known.until = time.Now().Add(-time.Second)
	}
	r.mu.Unlock()
	value("one", "value of one")
	r.mu.Lock()
	if len(r.cached) != 1 {
		t.Errorf("%d outputs are kept", len(r.cached))
	}
	r.mu.Unlock()
	if n := count(t, runs); n != 4 {
		t.Errorf("it ran %d times", n)
	}
}

func TestFailuresAreNotKept(t *testing.T) {
	r, dir := newResolver(t), t.TempDir()
	form := run(dir, "test -f there && echo found")
	if _, err := r.Value(t.Context(), form, nil); err == nil {
		t.Fatal("it succeeded")
	}
	if err := os.WriteFile(filepath.Join(dir, "there"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := r.Value(t.Context(), form, nil); err != nil || got != "found" {
		t.Error(got, err)
	}
}

// One who gives up does not fail the others.
func TestWaitingForAnother(t *testing.T) {
	r, dir := newResolver(t), t.TempDir()
	form := run(dir, `printf . >> runs; while ! test -f go; do sleep 0.02; done; echo found`)
	ctx, cancel := context.WithCancel(t.Context())
	first := make(chan error, 1)
	go func() {
		_, err := r.Value(ctx, form, nil)
		first <- err
	}()
	for count(t, filepath.Join(dir, "runs")) == 0 {
		<-time.After(time.Millisecond)
	}
	second := make(chan error, 1)
	go func() {
		got, err := r.Value(t.Context(), form, nil)
		if err == nil && got != "found" {
			err = errors.New(got)
		}
		second <- err
	}()
	cancel()
	if err := <-first; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := <-second; err != nil {
		t.Error(err)
	}
}

func TestFiles(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(write("target", "linked\n", 0o400), link); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ path, want, wrong, hint string }{
		{write("a", "value\n", 0o600), "value", "", ""},
		{write("b", "value", 0o400), "value", "", ""},
		{link, "linked", "", ""},
		{write("c", "v", 0o640), "", "can be read by other users", "chmod 600 "},
		{write("d", "v", 0o604), "", "can be read by other users", "chmod 600 "},
		{write("e", "v", 0o620), "", "can be changed by its group", "chmod 600 "},
		{write("f", "\n", 0o600), "", "it is empty", ""},
		{write("g", strings.Repeat("x", maxValue+1), 0o600), "", "larger than 64 KiB", ""},
		{filepath.Join(dir, "no"), "", "does not exist", "umask 077"},
		{dir, "", "it is not a file", ""},
	} {
		got, err := newResolver(t).Value(t.Context(), config.Form{Kind: config.FormFile, Text: "${file:x}", Name: test.path}, nil)
		if test.wrong == "" {
			if err != nil || got != test.want {
				t.Errorf("%s: %q, %v", test.path, got, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), test.wrong) || !strings.Contains(err.Error(), test.hint) {
			t.Errorf("%s: %v", test.path, err)
		}
	}
}

func TestCredentials(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "token"), []byte("value\n"), 0o400); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(dir, "token"), 0o440); err != nil { // as systemd's access control list shows
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "open"), []byte("value\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(dir, "open"), 0o644); err != nil {
		t.Fatal(err)
	}
	value := func(name string, environ ...string) (string, error) {
		return newResolver(t).Value(t.Context(), config.Form{Kind: config.FormCredential, Text: "${credential:" + name + "}", Name: name}, append([]string{}, environ...))
	}
	if got, err := value("token", "CREDENTIALS_DIRECTORY="+dir); err != nil || got != "value" {
		t.Error(got, err)
	}
	for name, want := range map[string]string{"none": "the unit has no credential none", "open": "can be read by other users"} {
		if _, err := value(name, "CREDENTIALS_DIRECTORY="+dir); err == nil || !strings.Contains(err.Error(), want) {
			t.Error(name, err)
		}
	}
	if _, err := value("token"); err == nil || !strings.Contains(err.Error(), "CREDENTIALS_DIRECTORY is not set; start mcp-workbench from a unit") {
		t.Error(err)
	}
}

func TestKeyring(t *testing.T) {
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nonexistent")
	form := config.Form{Kind: config.FormKeyring, Text: "${keyring:token}", Name: "token"}
	value := func() (string, error) { return newResolver(t).Value(t.Context(), form, nil) }
	system.MockInit()
	if _, err := value(); err == nil || !strings.HasSuffix(err.Error(), "does not have it; run: mcp-workbench secret set token") {
		t.Error(err)
	}
	if err := system.Set("mcp-workbench", "token", "value"); err != nil {
		t.Fatal(err)
	}
	if got, err := value(); err != nil || got != "value" {
		t.Error(got, err)
	}
	system.MockInitWithError(errors.New("locked"))
	if _, err := value(); err == nil || !strings.Contains(err.Error(), "cannot be used: locked; unlock it") || !strings.Contains(err.Error(), "${file:PATH}") {
		t.Error(err)
	}
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "disabled:")
	if _, err := value(); err == nil {
		t.Skip("this system always has a keyring")
	}
}
