package httpauth

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

func tokensPath(t *testing.T) string { return filepath.Join(t.TempDir(), "state", FileName) }

func mustOpen(t *testing.T, path string) *Store {
	t.Helper()
	s, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func mustCreate(t *testing.T, s *Store, name string, toolboxes ...string) string {
	t.Helper()
	token, err := s.Create(Grant{Name: name, Toolboxes: toolboxes})
	if err != nil {
		t.Fatal(err)
	}
	return token
}

func names(tokens []Token) []string {
	var names []string
	for _, token := range tokens {
		names = append(names, token.Name)
	}
	return names
}

func TestStore(t *testing.T) {
	path := tokensPath(t)
	s := mustOpen(t, path)
	if _, ok := s.Verify(""); ok || s.List() != nil {
		t.Error("there are tokens before one was made")
	}
	all, some := mustCreate(t, s, "all"), mustCreate(t, s, "some", "dev", "ops")
	if !strings.HasPrefix(all, "mcpw_") || len(all) != 48 || all == some {
		t.Errorf("tokens of %d and %d characters", len(all), len(some))
	}
	for _, s := range []*Store{s, mustOpen(t, path)} {
		if diff := cmp.Diff([]string{"all", "some"}, names(s.List())); diff != "" {
			t.Errorf("names:\n%s", diff)
		}
		if got, ok := s.Verify(all); !ok || got.Name != "all" || got.Toolboxes != nil {
			t.Errorf("a token for all toolboxes is %+v, %v", got, ok)
		}
		if got, ok := s.Verify(some); !ok || got.ID == "" || cmp.Diff(Identity{Kind: ByToken, Name: "some", ID: got.ID, Toolboxes: []string{"dev", "ops"}, Rights: []Right{Calls}, Credential: got.ID}, got) != "" {
			t.Errorf("a token for two toolboxes is %+v, %v", got, ok)
		}
	}
	if err := s.Remove("all"); err != nil {
		t.Fatal(err)
	}
	if _, ok := s.Verify(all); ok {
		t.Error("a removed token is known")
	}
	if _, ok := s.Verify(some); !ok {
		t.Error("removing one token removed another")
	}
}

func TestOnlyHashesAreKept(t *testing.T) {
	path := tokensPath(t)
	token := mustCreate(t, mustOpen(t, path), "laptop")
	content, err := os.ReadFile(path)
	if err != nil || bytes.Contains(content, []byte(strings.TrimPrefix(token, tokenPrefix))) {
		t.Errorf("the file holds the token, or nothing: %v", err)
	}
	if bytes.Contains(content, []byte("toolboxes")) {
		t.Errorf("a token for all names toolboxes:\n%s", content)
	}
	if runtime.GOOS == "windows" {
		return
	}
	for name, want := range map[string]fs.FileMode{path: 0o600, path + ".lock": 0o600, filepath.Dir(path): 0o700} {
		if info, err := os.Stat(name); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
}

func TestRefusedNames(t *testing.T) {
	s := mustOpen(t, tokensPath(t))
	mustCreate(t, s, "laptop")
	for _, test := range []struct {
		name      string
		toolboxes []string
		want      string
	}{
		{"", nil, "cannot be empty"},
		{"two words", nil, "letters, digits"},
		{"\x1b[2J", nil, "letters, digits"},
		{"ünicode", nil, "letters, digits"},
		{"-x", nil, "cannot begin"},
		{strings.Repeat("x", 65), nil, "at most 64"},
		{"laptop", nil, "token remove laptop"},
		{"none", []string{}, "or for all"},
		{"empty", []string{""}, "or for all"},
		{"huge", []string{strings.Repeat("x", maxFile)}, "more than 1024 KiB"},
	} {
		if _, err := s.Create(Grant{Name: test.name, Toolboxes: test.toolboxes}); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q: %v", test.name, err)
		}
	}
	for name, want := range map[string]string{"laptpo": "Did you mean 'laptop'?", "zzz": "token list"} {
		if err := s.Remove(name); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), want) {
			t.Errorf("removing %q: %v", name, err)
		}
	}
	if got := names(s.List()); len(got) != 1 {
		t.Errorf("the store holds %v", got)
	}
	if err := mustOpen(t, tokensPath(t)).Remove("x"); err == nil || !strings.Contains(err.Error(), "There are no tokens") {
		t.Errorf("removing from nothing: %v", err)
	}
}

const digest = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

func entry(fields string) string {
	return `{"tokens": [{"name": "a", "sha256": "` + digest + `", "created": "2026-01-02T03:04:05Z"` + fields + `}]}`
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestDamagedFiles(t *testing.T) {
	for _, test := range []struct{ name, content, want string }{
		{"whole", entry(""), ""},
		{"no tokens", `{"tokens": []}`, ""},
		{"empty", "", "not a valid JSON file"},
		{"cut", entry("")[:40], "not a valid JSON file"},
		{"array", "[]", "not a valid JSON file"},
		{"unknown key", entry(`, "toolbox": ["dev"]`), "not a valid JSON file"},
		{"wrong kind", entry(`, "toolboxes": "dev"`), "not a valid JSON file"},
		{"more after it", entry("") + "{}", "something follows"},
		{"no hash", `{"tokens": [{"name": "a"}]}`, "'sha256' of token 'a'"},
		{"short hash", `{"tokens": [{"name": "a", "sha256": "abcd"}]}`, "'sha256' of token 'a'"},
		{"no name", `{"tokens": [{"sha256": "` + digest + `"}]}`, "cannot be empty"},
		{"odd name", `{"tokens": [{"name": "a\u001b", "sha256": "` + digest + `"}]}`, "letters, digits"},
		{"name twice", `{"tokens": [{"name": "a", "sha256": "` + digest + `"}, {"name": "a", "sha256": "` + digest + `"}]}`, "is taken"},
		{"large", entry("") + strings.Repeat(" ", maxFile), "larger than"},
		{"many", `{"tokens": [{}` + strings.Repeat(",{}", maxTokens) + `]}`, "more than 1000"},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := tokensPath(t)
			write(t, path, test.content)
			_, err := Open(path)
			if test.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "token add") {
				t.Errorf("error %v", err)
			}
		})
	}
}

// An empty list lets a token see nothing. It must not become an absent one, which means
// everything, when another token is added.
func TestEmptyListStaysEmpty(t *testing.T) {
	path := tokensPath(t)
	write(t, path, entry(`, "toolboxes": []`))
	mustCreate(t, mustOpen(t, path), "other")
	if got := mustOpen(t, path).List()[0]; got.Toolboxes == nil || len(got.Toolboxes) != 0 {
		t.Errorf("toolboxes %#v", got.Toolboxes)
	}
}

func TestExposedFiles(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes mean nothing here")
	}
	for _, test := range []struct {
		file, folder fs.FileMode
		want         string
	}{
		{0o600, 0o700, ""},
		{0o400, 0o755, ""},
		{0o640, 0o700, "can be read by other users"},
		{0o604, 0o700, "can be read by other users"},
		{0o620, 0o700, "can be changed by its group"},
		{0o666, 0o700, "chmod 600"},
		{0o600, 0o770, "its folder can be changed by its group"},
		{0o600, 0o707, "chmod 700"},
	} {
		path := tokensPath(t)
		write(t, path, entry(""))
		if err := errors.Join(os.Chmod(path, test.file), os.Chmod(filepath.Dir(path), test.folder)); err != nil {
			t.Fatal(err)
		}
		_, err := Open(path)
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("file %o in folder %o: %v", test.file, test.folder, err)
		}
	}
}

func TestFolderInPlaceOfTheFile(t *testing.T) {
	path := tokensPath(t)
	if err := os.MkdirAll(path, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path); err == nil || !strings.Contains(err.Error(), "not a file") {
		t.Errorf("error %v", err)
	}
	path = filepath.Join(t.TempDir(), "file", FileName)
	write(t, filepath.Dir(path), "")
	s := &Store{path: path}
	if _, err := s.Create(Grant{Name: "a"}); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("error %v", err)
	}
}

// A running server notices what other processes do to the file, and looks once a second.
// A new token is accepted at once, and unknown ones do not have the file looked at more often than at the bounded rate.
func TestNewTokenIsAcceptedAtOnce(t *testing.T) {
	path := tokensPath(t)
	synctest.Test(t, func(t *testing.T) {
		serving, other := mustOpen(t, path), mustOpen(t, path)
		mustCreate(t, other, "first")
		<-time.After(reloadInterval)
		serving.Verify("unknown") // it looks at the file now
		token := mustCreate(t, other, "laptop")
		if _, ok := serving.Verify(token); ok {
			t.Error("the file was looked at twice at the same time")
		}
		<-time.After(unknownInterval)
		if _, ok := serving.Verify(token); !ok {
			t.Error("the new token is not accepted")
		}
	})
}

func TestChangesAreNoticed(t *testing.T) {
	path := tokensPath(t)
	synctest.Test(t, func(t *testing.T) {
		serving, other := mustOpen(t, path), mustOpen(t, path)
		var log bytes.Buffer
		serving.reportTo(slog.New(slog.NewTextHandler(&log, nil)))
		token := mustCreate(t, other, "laptop")
		expect := func(when string, now, later bool) {
			t.Helper()
			if _, ok := serving.Verify(token); ok != now {
				t.Errorf("%s, at once: %v", when, ok)
			}
			<-time.After(reloadInterval)
			if _, ok := serving.Verify(token); ok != later {
				t.Errorf("%s, a second later: %v", when, ok)
			}
		}
		expect("created", false, true)
		expect("unchanged", true, true)
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}

		write(t, path, "{")
		expect("damaged", true, true)
		expect("still damaged", true, true)
		if got := strings.Count(log.String(), "level=WARN"); got != 1 {
			t.Errorf("%d warnings of one damage:\n%s", got, log.String())
		}
		write(t, path, `{"tokens": []}`)
		expect("repaired, without the token", true, false)
		write(t, path, string(whole))
		expect("repaired, with the token", false, true)
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		expect("gone", true, false)
		write(t, path, string(whole))
		expect("back", false, true)
		if runtime.GOOS != "windows" {
			if err := os.Chmod(path, 0o644); err != nil {
				t.Fatal(err)
			}
			expect("readable by all", true, true)
			if !strings.Contains(log.String(), "can be read by other users") {
				t.Errorf("no warning:\n%s", log.String())
			}
			if err := os.Chmod(path, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := other.Remove("laptop"); err != nil {
			t.Fatal(err)
		}
		expect("removed", true, false)
	})
}

// Several stores stand for several processes: the lock belongs to the open file.
func TestTogether(t *testing.T) {
	path := tokensPath(t)
	const stores, rounds = 4, 10
	var working sync.WaitGroup
	reader := mustOpen(t, path)
	for i := range stores {
		s := mustOpen(t, path)
		working.Go(func() {
			for j := range rounds {
				name := fmt.Sprintf("t%d-%d", i, j)
				token, err := s.Create(Grant{Name: name})
				if err != nil {
					t.Error(err)
					return
				}
				if _, ok := s.Verify(token); !ok {
					t.Errorf("%s is not known to the store that made it", name)
				}
				reader.Verify(token)
				reader.List()
				if j%2 == 0 {
					if err := s.Remove(name); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	working.Wait()
	if got := mustOpen(t, path).List(); len(got) != stores*rounds/2 {
		t.Errorf("%d tokens are left, of %d", len(got), stores*rounds/2)
	}
	left, err := filepath.Glob(filepath.Join(filepath.Dir(path), ".tokens-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left over: %v, %v", left, err)
	}
}

func TestLimitOfTokens(t *testing.T) {
	path := tokensPath(t)
	tokens := make([]Token, maxTokens)
	for i := range tokens {
		tokens[i].Name = fmt.Sprint("t", i)
	}
	data, err := encodeTokens(tokens)
	if err != nil {
		t.Fatal(err)
	}
	write(t, path, string(data))
	if _, err := mustOpen(t, path).Create(Grant{Name: "one-more"}); err == nil || !strings.Contains(err.Error(), "the maximum") {
		t.Errorf("error %v", err)
	}
}
