package credentials

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
)

func FuzzDecode(f *testing.F) {
	name := nameOf(testKey)
	keyFile := f.TempDir() + "/key"
	if err := os.WriteFile(keyFile, []byte(testKeyText(1)), 0o600); err != nil {
		f.Fatal(err)
	}
	plain := Open(f.TempDir(), Options{})
	sealed := Open(f.TempDir(), Options{Seal: SealOptions{Seal: "file", KeyFile: keyFile}})
	c := full(testKey)
	c.Generation = 7
	for _, s := range []*Store{plain, sealed} {
		data, err := s.encode(name, c)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
		f.Add(data[:len(data)-3])
		f.Add(append(data, data...))
	}
	f.Add([]byte(`{"format":1,"server":"https://mcp.example.com/mcp","issuer":"https://auth.example.com","account":"work","generation":1,"metadata":[1,{}],"expires":null}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, s := range []*Store{plain, sealed} {
			c, err := s.decode(name, data)
			if err != nil {
				_, isBroken := errors.AsType[*BrokenError](err)
				_, isSealed := errors.AsType[*SealError](err)
				if c != nil || !isBroken && !isSealed {
					t.Errorf("%v, %v", c, err)
				}
				continue
			}
			if c.Key != testKey || c.Generation == 0 {
				t.Errorf("another login: %v", c)
			}
			again, err := s.encode(name, c)
			if err != nil {
				t.Fatal(err)
			}
			if twice, err := s.decode(name, again); err != nil || difference(compacted(t, c), twice) != "" {
				t.Errorf("%v, %s", err, difference(c, twice))
			}
		}
	})
}

// compacted returns the credential with its metadata and lists as they are once they were written.
func compacted(t *testing.T, c *Credential) *Credential {
	t.Helper()
	data, err := encodeJSON(content(*c))
	if err != nil {
		t.Fatal(err)
	}
	var written content
	if err := json.Unmarshal(data, &written); err != nil {
		t.Fatal(err)
	}
	return (*Credential)(&written)
}

// A field of a later version does not make a login unusable.
func TestUnknownFields(t *testing.T) {
	s := newStore(t)
	c := full(testKey)
	save(t, s, c)
	data, err := os.ReadFile(pathOf(s, testKey))
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(string(data), `{"format":1,`, `{"format":1,"later":{"x":1},`, 1)
	if err := os.WriteFile(pathOf(s, testKey), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Load(testKey); err != nil || difference(c, got) != "" {
		t.Errorf("%v, %s", err, difference(c, got))
	}
}

func TestBrokenFiles(t *testing.T) {
	s := newStore(t)
	save(t, s, full(testKey))
	path := pathOf(s, testKey)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	own := string(data)
	for _, test := range []struct{ text, message string }{
		{strings.Replace(own, `"account":"work"`, `"account":"home"`, 1), "it is the file of another login"},
		{strings.Replace(own, `"server":"https://mcp`, `"server":"https://m`, 1), "it is the file of another login"},
		{strings.Replace(own, `"format":1`, `"format":0`, 1), "it is not the file of a login"},
		{strings.Replace(own, `"generation":`, `"before":`, 1), "it is not the file of a login"},
		{strings.Replace(own, `"access":"`, `"access":["`, 1), "it is not valid JSON of a login"},
		{strings.Replace(own, `"scopes":[`, `"scopes":7,"x":[`, 1), "it is not valid JSON of a login"},
		{own[:len(own)-10], "it is not valid JSON of a login"},
		{own + own, "it is not valid JSON of a login"},
		{"", "it is not valid JSON of a login"},
		{strings.Repeat(" ", maxFile+1), "it is larger than 1 MiB"},
	} {
		if err := os.WriteFile(path, []byte(test.text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := s.Load(testKey)
		assertUnusable(t, err, path, test.message, "")
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("the error shows a secret: %v", err)
		}
	}
	l := lock(t, s, testKey)
	if err := l.Delete(); err != nil {
		t.Error(err)
	}
	if err := l.Save(full(testKey)); err != nil {
		t.Error(err)
	}
}

func TestWhatCannotBeWritten(t *testing.T) {
	s := newStore(t)
	saved := full(testKey)
	save(t, s, saved)
	for name, change := range map[string]func(*Credential){
		"more than 1024 KiB":           func(c *Credential) { c.Access = strings.Repeat("secret-x", maxFile/8) },
		"cannot be written as JSON":    func(c *Credential) { c.Metadata = json.RawMessage(`{"secret-`) },
		"https://mcp.example.com/mcp ": func(c *Credential) { c.Refresh = "secret-\xff" },
	} {
		c := *saved
		change(&c)
		l := lock(t, s, testKey)
		err := l.Save(&c)
		l.Unlock()
		if err == nil || !strings.Contains(err.Error(), name) || strings.Contains(err.Error(), "secret") || c.Generation != saved.Generation {
			t.Errorf("%s: %v", name, err)
		}
		if got, err := s.Load(testKey); err != nil || difference(saved, got) != "" {
			t.Errorf("the login was changed: %v, %s", err, difference(saved, got))
		}
	}
}

// A login that cannot be used is an error with a code, which names the file.
func assertUnusable(t *testing.T, err error, path, message, hint string) {
	t.Helper()
	wrong, ok := errors.AsType[*BrokenError](err)
	shown, isShown := errors.AsType[*toolbox.Error](err)
	if !ok || !isShown || wrong.Path != path || shown.Code != toolbox.LoginsUnusable ||
		!strings.Contains(shown.Message, path) || !strings.Contains(shown.Message, message) || !strings.Contains(shown.Hint, hint) {
		t.Errorf("%v, want '%s' and '%s' about %s", err, message, hint, path)
	}
}

func TestFilesThatAreNoFiles(t *testing.T) {
	s := newStore(t)
	if err := os.MkdirAll(pathOf(s, testKey), 0o700); err != nil {
		t.Fatal(err)
	}
	_, err := s.Load(testKey)
	assertUnusable(t, err, pathOf(s, testKey), "it is not a file", "ls -ld "+s.folder)
	s = newStore(t)
	if err := os.WriteFile(s.folder, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = s.Load(testKey)
	assertUnusable(t, err, s.folder, "it is not a folder", "")
	if _, err := s.Lock(t.Context(), testKey); err == nil {
		t.Error("a lock was taken in a file")
	}
}

func TestLeftoversAreRemoved(t *testing.T) {
	s := newStore(t)
	save(t, s, full(testKey))
	other := testKey
	other.Account = ""
	save(t, s, full(other))
	own := strings.TrimSuffix(nameOf(testKey), suffix)
	foreign := "." + strings.TrimSuffix(nameOf(other), suffix) + "-123" + tempSuffix
	for _, name := range []string{"." + own + "-123" + tempSuffix, "." + own + "-456" + tempSuffix, foreign} {
		if err := os.WriteFile(s.folder+"/"+name, []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if found, err := s.All(); len(found) != 2 || err != nil {
		t.Errorf("with leftovers: %v, %v", found, err)
	}
	lock(t, s, testKey).Unlock()
	entries, err := os.ReadDir(s.folder)
	if err != nil || len(entries) != 5 || entries[0].Name() != foreign { // which its own lock protects
		t.Errorf("%v, %v", entries, err)
	}
}
