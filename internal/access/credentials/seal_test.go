package credentials

import (
	"bytes"
	"encoding/base64"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	system "github.com/zalando/go-keyring"

	"github.com/mcp-workbench/mcp-workbench/internal/access/keyring"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
)

// testKeyText returns one of several keys, as a key file contains it.
func testKeyText(seed byte) string {
	return base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{seed}, keySize)) + "\n"
}

func writeKey(t *testing.T, mode fs.FileMode, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "logins.key")
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
	return path
}

// useMockKeyring replaces the system's keyring by an empty one.
func useMockKeyring(t *testing.T) {
	t.Helper()
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nonexistent")
	system.MockInit()
}

// ways are the ways to seal, each with a key.
func ways(t *testing.T) map[string]SealOptions {
	t.Helper()
	useMockKeyring(t)
	credentialsDir := filepath.Dir(writeKey(t, 0o400, testKeyText(2)))
	t.Setenv("CREDENTIALS_DIRECTORY", credentialsDir)
	return map[string]SealOptions{
		"keyring": {Seal: "keyring"},
		"file":    {Seal: "file", KeyFile: writeKey(t, 0o600, testKeyText(1))},
		"systemd": {Seal: "systemd", SystemdCredential: "logins.key"},
	}
}

func TestSealing(t *testing.T) {
	for name, options := range ways(t) {
		t.Run(name, func(t *testing.T) {
			folder := Folder(t.TempDir())
			plain, sealed := Open(folder, Options{}), Open(folder, Options{Seal: options})
			// A plain file from before is read, and sealed with the next save.
			c := full(testKey)
			save(t, plain, c)
			if got, err := sealed.Load(testKey); err != nil || difference(c, got) != "" {
				t.Fatalf("a plain file: %v, %s", err, difference(c, got))
			}
			for range 3 {
				save(t, sealed, c)
				if got, err := Open(folder, Options{Seal: options}).Load(testKey); err != nil || difference(c, got) != "" {
					t.Fatalf("a sealed file: %v, %s", err, difference(c, got))
				}
			}
			data, err := os.ReadFile(pathOf(sealed, testKey))
			if err != nil {
				t.Fatal(err)
			}
			for _, part := range []string{"secret", "client-id", "127.0.0.1", "read", base64.StdEncoding.EncodeToString(c.DPoPKey)} {
				if bytes.Contains(data, []byte(part)) {
					t.Errorf("the sealed file shows %q", part)
				}
			}
			// Without sealing it is neither read nor overwritten, and can be deleted.
			l := lock(t, plain, testKey)
			for _, call := range []func() error{
				func() error { _, err := plain.Load(testKey); return err },
				func() error { _, err := plain.Find(testKey.Server, testKey.Account); return err },
				func() error { return l.Save(c) },
				func() error { return l.Save(full(testKey)) },
			} {
				wrong, ok := errors.AsType[*SealError](call())
				if !ok || wrong.Key != testKey || wrong.Path != pathOf(plain, testKey) || !strings.Contains(wrong.Error(), `"credentials": {"seal": "`+name+`"}`) {
					t.Errorf("without sealing: %v", wrong)
				}
			}
			if after, err := os.ReadFile(pathOf(sealed, testKey)); err != nil || !bytes.Equal(data, after) {
				t.Errorf("the sealed file was changed, %v", err)
			}
			if err := l.Delete(); err != nil {
				t.Error(err)
			}
		})
	}
}

// A sealed file is of no use under another name or with another generation, and a changed one is noticed.
func TestSealedFilesAreBound(t *testing.T) {
	s := Open(Folder(t.TempDir()), Options{Seal: SealOptions{Seal: "file", KeyFile: writeKey(t, 0o600, testKeyText(1))}})
	other := testKey
	other.Account = "private"
	for _, key := range []Key{testKey, other} {
		save(t, s, full(key))
	}
	read := func(key Key) string {
		data, err := os.ReadFile(pathOf(s, key))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	own, foreign := read(testKey), read(other)
	cut := func(text, from, to string) string {
		_, text, _ = strings.Cut(text, from)
		text, _, _ = strings.Cut(text, to)
		return text
	}
	for name, text := range map[string]string{
		"the file of another login":     foreign,
		"the content of another login":  strings.Replace(own, cut(own, `"data":"`, `"`), cut(foreign, `"data":"`, `"`), 1),
		"another account in the head":   strings.Replace(own, `"account":"work"`, `"account":"private"`, 1),
		"another generation":            strings.Replace(own, `"generation":`, `"generation":1`, 1),
		"a changed byte":                strings.Replace(own, `"data":"`, `"data":"AAAA`, 1),
		"no content":                    strings.Replace(own, cut(own, `"data":"`, `"`), "", 1),
		"half a file":                   own[:len(own)/2],
		"an empty file":                 "",
		"another form":                  `{"tokens": []}`,
		"null":                          `null`,
		"a plain head without the rest": strings.Replace(own, `"sealed":`, `"unknown":`, 1) + "x",
	} {
		t.Run(name, func(t *testing.T) {
			if text == own {
				t.Fatal("nothing was changed")
			}
			if err := os.WriteFile(pathOf(s, testKey), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			c, err := s.Load(testKey)
			wrong, ok := errors.AsType[*BrokenError](err)
			if !ok || c != nil || wrong.Path != pathOf(s, testKey) || !strings.Contains(wrong.Error(), "rm "+wrong.Path) {
				t.Errorf("%v, %v", c, err)
			}
			if found, err := s.All(); len(found) != 1 || found[0].Key != other || err == nil {
				t.Errorf("the other login: %v, %v", found, err)
			}
			l := lock(t, s, testKey)
			defer l.Unlock()
			if _, ok := errors.AsType[*BrokenError](l.Save(full(testKey))); !ok {
				t.Error("a file that cannot be read was overwritten")
			}
		})
	}
}

func TestKeysThatCannotBeUsed(t *testing.T) {
	for _, test := range []struct {
		name    string
		set     func(t *testing.T) SealOptions
		message string
		hint    string // when a login is saved
	}{
		{
			"no key file", func(*testing.T) SealOptions { return SealOptions{Seal: "file", KeyFile: "/nonexistent/logins.key"} },
			"the key file /nonexistent/logins.key does not exist", "(umask 077; head -c 32 /dev/urandom | base64 > /nonexistent/logins.key)",
		},
		{
			"a short key", func(t *testing.T) SealOptions {
				return SealOptions{Seal: "file", KeyFile: writeKey(t, 0o600, "c2VjcmV0LWtleQ==")}
			},
			"it is not 32 bytes in Base64", "head -c 32 /dev/urandom",
		},
		{
			"a key file that is not a file", func(t *testing.T) SealOptions { return SealOptions{Seal: "file", KeyFile: t.TempDir()} },
			"it is not a file", "",
		},
		{
			"a key that others can read", func(t *testing.T) SealOptions {
				return SealOptions{Seal: "file", KeyFile: writeKey(t, 0o640, testKeyText(1))}
			},
			"can be read by other users", "chmod 600 /",
		},
		{
			"not from systemd", func(t *testing.T) SealOptions {
				t.Setenv("CREDENTIALS_DIRECTORY", "")
				return SealOptions{Seal: "systemd", SystemdCredential: "mcp-workbench-key"}
			},
			"CREDENTIALS_DIRECTORY is not set", "systemd-creds encrypt --name=mcp-workbench-key",
		},
		{
			"no such credential", func(t *testing.T) SealOptions {
				t.Setenv("CREDENTIALS_DIRECTORY", t.TempDir())
				return SealOptions{Seal: "systemd", SystemdCredential: "mcp-workbench-key"}
			},
			"the systemd credential 'mcp-workbench-key' cannot be read", "LoadCredentialEncrypted=mcp-workbench-key:FILE",
		},
		{
			"a path as a credential", func(t *testing.T) SealOptions {
				t.Setenv("CREDENTIALS_DIRECTORY", t.TempDir())
				return SealOptions{Seal: "systemd", SystemdCredential: "../key"}
			},
			"is not a file name", "systemdCredential",
		},
		{
			"a credential for everybody", func(t *testing.T) SealOptions {
				t.Setenv("CREDENTIALS_DIRECTORY", filepath.Dir(writeKey(t, 0o444, testKeyText(1))))
				return SealOptions{Seal: "systemd", SystemdCredential: "logins.key"}
			},
			"can be read by other users", "",
		},
		{
			"a keyring that fails", func(t *testing.T) SealOptions {
				useMockKeyring(t)
				system.MockInitWithError(errors.New("no such service"))
				return SealOptions{Seal: "keyring"}
			},
			"the system's keyring cannot be used: no such service", `"seal": "file"`,
		},
		{
			"something else in the keyring", func(t *testing.T) SealOptions {
				useMockKeyring(t)
				if err := system.Set(keyring.Service, keyring.LoginsEntry, "secret-entry"); err != nil {
					t.Fatal(err)
				}
				return SealOptions{Seal: "keyring"}
			},
			"is not a key", "Restore or remove that entry",
		},
		{
			"an unknown way", func(*testing.T) SealOptions { return SealOptions{Seal: "wax"} },
			`"seal": "wax"`, `"keyring"`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			if runtime.GOOS == "windows" && strings.Contains(test.message, "other users") {
				t.Skip("modes do not show who has access")
			}
			s := Open(Folder(t.TempDir()), Options{Seal: test.set(t)})
			l := lock(t, s, testKey)
			err := l.Save(full(testKey))
			_, ok := errors.AsType[*SealError](err)
			shown, isShown := errors.AsType[*toolbox.Error](err)
			if !ok || !isShown || !strings.Contains(shown.Message, test.message) || !strings.Contains(shown.Hint, test.hint) || strings.Contains(err.Error(), "secret") {
				t.Errorf("%v", err)
			}
			assertFiles(t, s, strings.TrimSuffix(nameOf(testKey), suffix)+lockSuffix)
		})
	}
}

func TestSealedWithAnotherKey(t *testing.T) {
	options := SealOptions{Seal: "file", KeyFile: writeKey(t, 0o600, testKeyText(1))}
	s := Open(Folder(t.TempDir()), Options{Seal: options})
	c := full(testKey)
	save(t, s, c)
	before, err := os.ReadFile(pathOf(s, testKey))
	if err != nil {
		t.Fatal(err)
	}
	for name, other := range map[string]SealOptions{
		"another key than the one in /":            {Seal: "file", KeyFile: writeKey(t, 0o600, testKeyText(2))},
		"Restore it from a backup":                 {Seal: "file", KeyFile: "/nonexistent/key"},
		`the configuration says "seal": "systemd"`: {Seal: "systemd", SystemdCredential: "x"},
	} {
		s := Open(s.folder, Options{Seal: other})
		l := lock(t, s, testKey)
		for _, err := range []error{l.Save(c), func() error { _, err := l.Load(); return err }()} {
			if _, ok := errors.AsType[*SealError](err); !ok || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), "rm "+pathOf(s, testKey)) {
				t.Errorf("%s: %v", name, err)
			}
		}
		l.Unlock()
	}
	if after, err := os.ReadFile(pathOf(s, testKey)); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the file was changed, %v", err)
	}
	// The key file is read each time, so that a restored key needs no restart.
	if err := os.Rename(options.KeyFile, options.KeyFile+".away"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Load(testKey); err == nil {
		t.Error("the login was opened without its key")
	}
	if err := os.Rename(options.KeyFile+".away", options.KeyFile); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Load(testKey); err != nil {
		t.Error(err)
	}
}

func TestKeyInKeyring(t *testing.T) {
	useMockKeyring(t)
	folder := Folder(t.TempDir())
	s := Open(folder, Options{Seal: SealOptions{Seal: "keyring"}})
	if found, err := s.All(); found != nil || err != nil {
		t.Errorf("%v, %v", found, err)
	}
	if _, err := system.Get(keyring.Service, keyring.LoginsEntry); !errors.Is(err, system.ErrNotFound) {
		t.Errorf("reading created a key: %v", err)
	}
	c := full(testKey)
	save(t, s, c)
	text, err := system.Get(keyring.Service, keyring.LoginsEntry)
	if err != nil {
		t.Fatal(err)
	}
	// A key that went is not replaced while a login needs it.
	if err := system.Delete(keyring.Service, keyring.LoginsEntry); err != nil {
		t.Fatal(err)
	}
	fresh := Open(folder, Options{Seal: SealOptions{Seal: "keyring"}})
	if _, err := fresh.Load(testKey); err == nil || !strings.Contains(err.Error(), "does not contain the key") {
		t.Errorf("without the key: %v", err)
	}
	other := testKey
	other.Account = "private"
	l := lock(t, fresh, other)
	if err := l.Save(full(other)); err == nil || !strings.Contains(err.Error(), pathOf(s, testKey)) {
		t.Errorf("a new key was made: %v", err)
	}
	// A process that knows an older key notices the new one.
	save(t, s, c)
	key, err := parseKey(testKeyText(3))
	if err != nil || key.id() == "" {
		t.Fatal(err)
	}
	if err := system.Set(keyring.Service, keyring.LoginsEntry, testKeyText(3)); err != nil {
		t.Fatal(err)
	}
	if err := l.Save(full(other)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Load(other); err != nil {
		t.Errorf("with another key in the keyring: %v", err)
	}
	if strings.Contains(text, "\n") {
		t.Errorf("the entry has several lines")
	}
}

func TestKeyringThatDoesNotAnswer(t *testing.T) {
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nonexistent")
	synctest.Test(t, func(t *testing.T) {
		k := &loginKeyring{}
		answer := make(chan string)
		var calls atomic.Int32
		ask := func() (string, error) { calls.Add(1); return <-answer, nil }
		begun := time.Now()
		if _, err := k.call(ask); !errors.Is(err, errSlow) || time.Since(begun) != keyringTime {
			t.Errorf("%v after %v", err, time.Since(begun))
		}
		// While it hangs, nobody waits again.
		if _, err := k.call(ask); !errors.Is(err, errSlow) || time.Since(begun) != keyringTime || calls.Load() != 1 {
			t.Errorf("%v after %v, %d calls", err, time.Since(begun), calls.Load())
		}
		answer <- "late"
		synctest.Wait()
		go func() { answer <- "in time" }()
		if text, err := k.call(ask); text != "in time" || err != nil || calls.Load() != 2 {
			t.Errorf("%q, %v, %d calls", text, err, calls.Load())
		}
		if _, err := k.call(func() (string, error) { panic("nil signal") }); err == nil {
			t.Error("a panic of the library is no error")
		}
		// A keyring that failed is left alone for a while.
		if _, err := k.call(ask); err == nil || calls.Load() != 2 {
			t.Errorf("%v, %d calls", err, calls.Load())
		}
		<-time.After(keyringPause)
		go func() { answer <- "again" }()
		if text, err := k.call(ask); text != "again" || err != nil || calls.Load() != 3 {
			t.Errorf("%q, %v, %d calls", text, err, calls.Load())
		}
	})
}

func TestNoSessionBus(t *testing.T) {
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		t.Skip("the keyring needs no bus")
	}
	if _, err := os.Stat("/run/user"); err == nil {
		t.Skip("there may be a bus")
	}
	for _, address := range []string{"", "autolaunch:"} {
		if err := keyring.Absence(func(string) string { return address }); err == nil {
			t.Errorf("%q is a bus", address)
		}
	}
}
