package keyring

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	system "github.com/zalando/go-keyring"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func useMock(t *testing.T) *Book {
	t.Helper()
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nonexistent")
	system.MockInit()
	return OpenBook(filepath.Join(t.TempDir(), "state"))
}

func TestBook(t *testing.T) {
	book := useMock(t)
	for _, step := range []struct {
		name, value string
		replaced    bool
	}{{"b", "one", false}, {"a", "two", false}, {"b", "three", true}} {
		if replaced, err := book.Set(t.Context(), step.name, step.value); err != nil || replaced != step.replaced {
			t.Fatal(step, replaced, err)
		}
	}
	if names, err := book.Names(); err != nil || !slices.Equal(names, []string{"a", "b"}) {
		t.Error(names, err)
	}
	if value, err := Get("b"); err != nil || value != "three" {
		t.Error(value, err)
	}
	file, err := os.ReadFile(book.path)
	if err != nil || strings.Contains(string(file), "three") {
		t.Errorf("%s, %v", file, err)
	}
	if found, err := book.Remove(t.Context(), "b"); err != nil || !found {
		t.Error(found, err)
	}
	if found, err := book.Remove(t.Context(), "b"); err != nil || found {
		t.Error(found, err)
	}
	if _, err := Get("b"); !errors.Is(err, ErrNotFound) {
		t.Error(err)
	}
	if err := book.RemoveAll(t.Context()); err != nil {
		t.Error(err)
	}
	if names, err := book.Names(); err != nil || len(names) != 0 {
		t.Error(names, err)
	}
	if has, err := Has("a"); has || err != nil {
		t.Error(has, err)
	}
}

func TestManyAtOnce(t *testing.T) {
	book := useMock(t)
	var all sync.WaitGroup
	for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
		all.Go(func() {
			if _, err := book.Set(t.Context(), name, name); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if names, err := book.Names(); err != nil || len(names) != 6 {
		t.Error(names, err)
	}
}

func TestBookThatIsFull(t *testing.T) {
	book := useMock(t)
	if _, err := book.Set(t.Context(), "first", "x"); err != nil {
		t.Fatal(err)
	}
	names := make([]string, MaxSecrets)
	for i := range names {
		names[i] = "n" + strings.Repeat("x", i%100) + string(rune('a'+i/100))
	}
	if err := book.write(names); err != nil {
		t.Fatal(err)
	}
	if _, err := book.Set(t.Context(), "more", "x"); !errors.Is(err, ErrTooMany) {
		t.Error(err)
	}
}

func TestRefusals(t *testing.T) {
	book := useMock(t)
	if err := system.Set(Service, LoginsEntry, "the key"); err != nil {
		t.Fatal(err)
	}
	if value, err := Get(LoginsEntry); !errors.Is(err, ErrReserved) || value != "" {
		t.Error(value, err)
	}
	if _, err := book.Remove(t.Context(), LoginsEntry); !errors.Is(err, ErrReserved) {
		t.Error(err)
	}
	system.MockInitWithError(errors.New("locked"))
	if _, err := book.Set(t.Context(), "a", "b"); err == nil || err.Error() != "locked" {
		t.Error(err)
	}
	if names, err := book.Names(); err != nil || len(names) != 0 {
		t.Errorf("a secret that could not be kept is listed: %v, %v", names, err)
	}
	for content, want := range map[string]string{"{": "damaged", `{"version": 99}`: "newer"} {
		if err := os.WriteFile(book.path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := book.Names(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", content, err)
		}
	}
}
