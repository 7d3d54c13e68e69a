package credentials

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcp-workbench/mcp-workbench/internal/base/safefile"
)

var testKey = Key{Server: "https://mcp.example.com/mcp", Issuer: "https://auth.example.com", Account: "work"}

// full returns a credential with a value in each field.
func full(key Key) *Credential {
	at := time.Date(2026, 3, 4, 5, 6, 7, 8, time.UTC)
	return &Credential{
		Key: key, Login: "login-1", Resource: "https://mcp.example.com/", Metadata: json.RawMessage(`{"issuer":"<x>"}`),
		Client: Client{
			ID: "client-id", Secret: "secret-of-client", Method: "client_secret_post", RedirectURI: "http://127.0.0.1:1234/callback",
			Source: SourceDynamic, SecretExpires: at.Add(time.Hour), Registered: at,
		},
		Scopes: []string{"read", "write"}, Granted: []string{"read"}, Wanted: []string{"admin"},
		Access: "secret-access", Kind: "DPoP", Expires: at.Add(time.Minute), Refresh: "secret-refresh", DPoPKey: []byte("secret-dpop-key"),
		Dead: "the refresh token was refused", Refreshing: &Mark{Since: at, Process: 42},
	}
}

func newStore(t *testing.T) *Store {
	t.Helper()
	return Open(Folder(t.TempDir()), Options{})
}

func lock(t *testing.T, s *Store, key Key) *Lock {
	t.Helper()
	l, err := s.Lock(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Unlock)
	return l
}

// save saves a credential under its own lock.
func save(t *testing.T, s *Store, c *Credential) {
	t.Helper()
	l := lock(t, s, c.Key)
	defer l.Unlock()
	if err := l.Save(c); err != nil {
		t.Fatal(err)
	}
}

func pathOf(s *Store, key Key) string { return filepath.Join(s.folder, nameOf(key)) }

// difference compares all that a credential contains: its methods hide it from cmp too.
func difference(want, got *Credential) string {
	if want == nil || got == nil {
		return cmp.Diff(want == nil, got == nil)
	}
	hidden := cmp.Transformer("content", func(c Client) map[string]any {
		return map[string]any{"id": c.ID, "secret": c.Secret, "method": c.Method, "uri": c.RedirectURI, "source": c.Source, "expires": c.SecretExpires, "registered": c.Registered}
	})
	return cmp.Diff(content(*want), content(*got), hidden)
}

func TestSaveAndLoad(t *testing.T) {
	s := newStore(t)
	if c, err := s.Load(testKey); c != nil || err != nil {
		t.Fatalf("an empty store has %v, %v", c, err)
	}
	if entries, err := os.ReadDir(filepath.Dir(s.folder)); err != nil || len(entries) > 0 {
		t.Errorf("reading created %v, %v", entries, err)
	}
	saved := full(testKey)
	save(t, s, saved)
	if saved.Generation == 0 || saved.Updated.IsZero() {
		t.Errorf("generation %d, updated %v", saved.Generation, saved.Updated)
	}
	first := saved.Generation
	for _, load := range []func() (*Credential, error){
		func() (*Credential, error) { return s.Load(testKey) },
		func() (*Credential, error) { return Open(s.folder, Options{}).Load(testKey) },
		func() (*Credential, error) {
			found, err := s.Find(testKey.Server, testKey.Account)
			return found[0], err
		},
		func() (*Credential, error) {
			l := lock(t, s, testKey)
			defer l.Unlock()
			return l.Load()
		},
	} {
		got, err := load()
		if diff := difference(saved, got); diff != "" || err != nil {
			t.Errorf("loaded %v, %s", err, diff)
		}
	}
	saved.Access, saved.Refreshing = "secret-access-2", nil
	save(t, s, saved)
	got, err := s.Load(testKey)
	if diff := difference(saved, got); diff != "" || err != nil || got.Generation != first+1 {
		t.Errorf("loaded generation %d after %d, %v, %s", got.Generation, first, err, diff)
	}
}

func TestSaveComparesGenerations(t *testing.T) {
	s := newStore(t)
	saved := full(testKey)
	save(t, s, saved)
	l := lock(t, s, testKey)
	for _, generation := range []uint64{0, saved.Generation - 1, saved.Generation + 1} {
		c := full(testKey)
		c.Generation = generation
		wrong, ok := errors.AsType[*StaleError](l.Save(c))
		if !ok || wrong.Known != generation || wrong.Generation != saved.Generation || c.Generation != generation {
			t.Errorf("generation %d: %v", generation, wrong)
		}
	}
	if err := l.Delete(); err != nil {
		t.Fatal(err)
	}
	if err := l.Delete(); err != nil {
		t.Errorf("deleting nothing: %v", err)
	}
	if _, ok := errors.AsType[*StaleError](l.Save(full(testKey))); ok {
		t.Error("a deleted login cannot be made again")
	}
	// The login that was made again is another one.
	if _, ok := errors.AsType[*StaleError](l.Save(saved)); !ok {
		t.Error("a login from before the deletion was saved")
	}
}

func TestLockIsNeeded(t *testing.T) {
	s := newStore(t)
	l := lock(t, s, testKey)
	other := full(Key{Server: "https://other.example.com", Issuer: testKey.Issuer})
	if err := l.Save(other); err == nil {
		t.Error("a login was saved under the lock of another")
	}
	l.Unlock()
	l.Unlock()
	_, loading := l.Load()
	for _, err := range []error{loading, l.Save(full(testKey)), l.Delete()} {
		if !errors.Is(err, errUnlocked) {
			t.Errorf("without the lock: %v", err)
		}
	}
}

func TestFind(t *testing.T) {
	s := newStore(t)
	other := testKey
	other.Issuer = "https://login.example.com"
	strangers := []Key{
		{Server: testKey.Server, Issuer: testKey.Issuer},
		{Server: "https://mcp.example.com/mcp2", Issuer: testKey.Issuer, Account: testKey.Account},
	}
	for _, key := range append([]Key{testKey, other}, strangers...) {
		save(t, s, full(key))
	}
	again, err := s.Load(testKey)
	if err != nil {
		t.Fatal(err)
	}
	save(t, s, again)
	found, err := s.Find(testKey.Server, testKey.Account)
	if err != nil || len(found) != 2 || found[0].Key != testKey || found[1].Key != other {
		t.Errorf("found %v, %v", found, err)
	}
	if found, err := s.Find(testKey.Server, "nobody"); err != nil || len(found) > 0 {
		t.Errorf("found %v, %v", found, err)
	}
	if all, err := s.All(); err != nil || len(all) != 4 {
		t.Errorf("all: %v, %v", all, err)
	}
}

func TestWithoutFolder(t *testing.T) {
	s := Open(Folder(""), Options{})
	if found, err := s.Find("a", "b"); found != nil || err != nil {
		t.Errorf("found %v, %v", found, err)
	}
	if c, err := s.Load(testKey); c != nil || err != nil {
		t.Errorf("loaded %v, %v", c, err)
	}
	if s.Stamp("a", "b") != (Stamp{}) {
		t.Error("there is a stamp of nothing")
	}
	if _, err := s.Lock(t.Context(), testKey); !errors.Is(err, ErrNoFolder) {
		t.Errorf("locked: %v", err)
	}
}

func TestLockWaits(t *testing.T) {
	folder := Folder(t.TempDir())
	synctest.Test(t, func(t *testing.T) {
		s := Open(folder, Options{})
		held := lock(t, s, testKey)
		other := testKey
		other.Account = ""
		lock(t, s, other).Unlock() // which does not wait
		begun := time.Now()
		_, err := s.Lock(t.Context(), testKey)
		if !errors.Is(err, safefile.ErrLocked) || time.Since(begun) != lockWait {
			t.Errorf("%v after %v", err, time.Since(begun))
		}
		assertUnusable(t, err, pathOf(s, testKey), "Cannot lock", "mcp-workbench ps")
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		begun = time.Now()
		if _, err := s.Lock(ctx, testKey); !errors.Is(err, context.DeadlineExceeded) || time.Since(begun) != time.Second {
			t.Errorf("%v after %v", err, time.Since(begun))
		}
		time.AfterFunc(lockWait/2, held.Unlock)
		lock(t, s, testKey).Unlock()
	})
}

func TestStamp(t *testing.T) {
	s := newStore(t)
	seen := map[Stamp]string{}
	check := func(what string) {
		t.Helper()
		stamp := s.Stamp(testKey.Server, testKey.Account)
		if before, ok := seen[stamp]; ok {
			t.Errorf("the same stamp %s as %s", what, before)
		}
		if again := Open(s.folder, Options{}).Stamp(testKey.Server, testKey.Account); again != stamp {
			t.Errorf("another stamp without a change, %s", what)
		}
		seen[stamp] = what
	}
	check("at first")
	c := full(testKey)
	l := lock(t, s, testKey)
	for range 50 {
		if err := l.Save(c); err != nil {
			t.Fatal(err)
		}
		check("after a save")
	}
	other := full(testKey)
	other.Issuer = "https://login.example.com"
	save(t, s, other)
	check("after a login at another issuer")
	before := s.Stamp(testKey.Server, testKey.Account)
	save(t, s, full(Key{Server: testKey.Server, Issuer: testKey.Issuer}))
	if s.Stamp(testKey.Server, testKey.Account) != before {
		t.Error("a login of another account changed the stamp")
	}
	if err := l.Delete(); err != nil {
		t.Fatal(err)
	}
	check("after a deletion")
}

// Each version of a file has a later time than the one before, even if the clock was set back.
func TestStampAfterTheClockWasSetBack(t *testing.T) {
	s := newStore(t)
	c := full(testKey)
	save(t, s, c)
	ahead := time.Now().Add(time.Hour).Truncate(time.Second)
	for range 3 {
		if err := os.Chtimes(pathOf(s, testKey), ahead, ahead); err != nil {
			t.Fatal(err)
		}
		save(t, s, c)
		info, err := os.Stat(pathOf(s, testKey))
		if err != nil {
			t.Fatal(err)
		}
		if !info.ModTime().After(ahead) {
			t.Errorf("the file has the time %v, after %v", info.ModTime(), ahead)
		}
		ahead = info.ModTime()
	}
}
