package trust

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
)

func check(t *testing.T, s *Store, path string, want Verdict) {
	t.Helper()
	if got, err := s.Check(read(t, path)); got != want || err != nil {
		t.Errorf("the verdict is %v, %v; want %v", got, err, want)
	}
}

func add(t *testing.T, s *Store, path string) {
	t.Helper()
	if err := s.Add(read(t, path)); err != nil {
		t.Fatal(err)
	}
}

func TestStore(t *testing.T) {
	dir := realTemp(t)
	path := write(t, filepath.Join(dir, "a", configName), "{}")
	store := NewStore(filepath.Join(dir, "state", "mcp-workbench"))
	check(t, store, path, Unknown)
	add(t, store, path)
	check(t, store, path, Trusted)

	write(t, path, "{} ")
	check(t, store, path, Changed)
	write(t, path, "{}")
	check(t, store, path, Trusted)

	beside := write(t, filepath.Join(dir, "a", envName), "")
	check(t, store, path, Changed)
	add(t, store, path)
	check(t, store, path, Trusted)
	write(t, beside, "A=b")
	check(t, store, path, Changed)

	other := write(t, filepath.Join(dir, "b", configName), "{}")
	check(t, store, other, Unknown)
	add(t, store, other)
	records, err := store.List()
	if err != nil || len(records) != 2 || records[0].Path != path || records[1].Path != other || records[0].Time.IsZero() {
		t.Errorf("records %v, error %v", records, err)
	}
	if known, err := store.Revoke(other); !known || err != nil {
		t.Errorf("revoke: %v, %v", known, err)
	}
	if known, err := store.Revoke(other); known || err != nil {
		t.Errorf("revoke again: %v, %v", known, err)
	}
	check(t, store, other, Unknown)
}

// The end of the file must not be taken for the beginning of the variables.
func TestDigestKeepsFilesApart(t *testing.T) {
	path := write(t, filepath.Join(t.TempDir(), configName), "")
	info := read(t, path).Info
	seen := map[string]int{}
	for i, f := range []File{
		{Content: []byte("ab")},
		{Content: []byte("ab"), EnvInfo: info},
		{Content: []byte("a"), Env: []byte("b"), EnvInfo: info},
		{Env: []byte("ab"), EnvInfo: info},
		{},
	} {
		if first, ok := seen[f.digest()]; ok {
			t.Errorf("%d and %d have one digest", first, i)
		}
		seen[f.digest()] = i
	}
}

// A link to a trusted file starts relative commands in another folder; a link to the
// folder does not.
func TestLinksToTrustedFiles(t *testing.T) {
	dir := realTemp(t)
	path := write(t, filepath.Join(dir, "a", configName), "{}")
	store := NewStore(filepath.Join(dir, "state"))
	add(t, store, path)
	write(t, filepath.Join(dir, "b", "keep"), "")
	if err := os.Symlink(path, filepath.Join(dir, "b", configName)); err != nil {
		t.Skip(err)
	}
	check(t, store, filepath.Join(dir, "b", configName), Unknown)
	if err := os.Symlink(filepath.Join(dir, "a"), filepath.Join(dir, "c")); err != nil {
		t.Fatal(err)
	}
	check(t, store, filepath.Join(dir, "c", configName), Trusted)
}

func TestRevokeWhatIsGone(t *testing.T) {
	dir := realTemp(t)
	path := write(t, filepath.Join(dir, "a", configName), "{}")
	store := NewStore(filepath.Join(dir, "state"))
	add(t, store, path)
	if err := os.RemoveAll(filepath.Dir(path)); err != nil {
		t.Fatal(err)
	}
	if known, err := store.Revoke(path); !known || err != nil {
		t.Errorf("revoke: %v, %v", known, err)
	}
}

func TestModesOfRecords(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no modes here")
	}
	dir := realTemp(t)
	store := NewStore(filepath.Join(dir, "state", "mcp-workbench"))
	add(t, store, write(t, filepath.Join(dir, configName), "{}"))
	entries, err := os.ReadDir(store.folder)
	if err != nil || len(entries) != 1 {
		t.Fatalf("entries %v, error %v", entries, err)
	}
	for path, want := range map[string]os.FileMode{
		filepath.Dir(store.folder): 0o700,
		store.folder:               0o700,
		filepath.Join(store.folder, entries[0].Name()): 0o600,
	} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
}

func TestDamagedRecordIsNoTrust(t *testing.T) {
	for _, test := range []struct {
		name, want string
		damage     func(t *testing.T, record string)
	}{
		{"empty", "not a valid record", func(t *testing.T, record string) { write(t, record, "") }},
		{"cut", "not a valid record", func(t *testing.T, record string) { write(t, record, `{"path":"/`) }},
		{"large", "larger than", func(t *testing.T, record string) { write(t, record, strings.Repeat(" ", maxRecord+1)) }},
		{"no sum", "'sha256'", func(t *testing.T, record string) { write(t, record, `{"path":"/x"}`) }},
		{"short sum", "'sha256'", func(t *testing.T, record string) { write(t, record, `{"path":"/x","sha256":"00"}`) }},
		{"of another file", "another record", func(t *testing.T, record string) {
			write(t, record, fmt.Sprintf(`{"path":"/x","sha256":%q}`, strings.Repeat("0", 64)))
		}},
		{"a folder", "does not count", func(t *testing.T, record string) {
			if err := errors.Join(os.Remove(record), os.Mkdir(record, 0o700)); err != nil {
				t.Fatal(err)
			}
		}},
		{"open to others", "can be changed by", func(t *testing.T, record string) { chmod(t, record, 0o666) }},
		{"in an open folder", "its folder can be changed by", func(t *testing.T, record string) { chmod(t, filepath.Dir(record), 0o770) }},
	} {
		t.Run(test.name, func(t *testing.T) {
			if strings.Contains(test.want, "changed") && runtime.GOOS == "windows" {
				t.Skip("no modes here")
			}
			dir := realTemp(t)
			path := write(t, filepath.Join(dir, configName), "{}")
			store := NewStore(filepath.Join(dir, "state"))
			add(t, store, path)
			test.damage(t, filepath.Join(store.folder, recordName(path)))
			got, err := store.Check(read(t, path))
			if got != Unknown || err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("the verdict is %v, %v", got, err)
			}
			if records, err := store.List(); len(records) != 0 || err == nil {
				t.Errorf("the list is %v, %v", records, err)
			}
		})
	}
}

func TestAddReplacesDamagedRecord(t *testing.T) {
	dir := realTemp(t)
	path := write(t, filepath.Join(dir, configName), "{}")
	store := NewStore(filepath.Join(dir, "state"))
	add(t, store, path)
	write(t, filepath.Join(store.folder, recordName(path)), "{")
	add(t, store, path)
	check(t, store, path, Trusted)
}

func TestWithoutStateFolder(t *testing.T) {
	path := write(t, filepath.Join(t.TempDir(), configName), "{}")
	store := NewStore("")
	check(t, store, path, Unknown)
	if err := store.Add(read(t, path)); err == nil {
		t.Error("it was recorded, and there is no place")
	}
	if records, err := store.List(); len(records) != 0 || err != nil {
		t.Errorf("the list is %v, %v", records, err)
	}
	if known, err := store.Revoke(path); known || err != nil {
		t.Errorf("revoke: %v, %v", known, err)
	}
}

// Many who record and look up at once see whole records only.
func TestTogether(t *testing.T) {
	dir := realTemp(t)
	state := filepath.Join(dir, "state")
	shared := read(t, write(t, filepath.Join(dir, "shared", configName), "{}"))
	var all sync.WaitGroup
	for i := range 8 {
		own := read(t, write(t, filepath.Join(dir, fmt.Sprint(i), configName), "{}"))
		all.Go(func() {
			store := NewStore(state) // as a process of its own would have
			for range 10 {
				if err := errors.Join(store.Add(shared), store.Add(own)); err != nil {
					t.Error(err)
				}
				if verdict, err := store.Check(shared); verdict != Trusted || err != nil {
					t.Errorf("shared: %v, %v", verdict, err)
				}
				if _, err := store.List(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	records, err := NewStore(state).List()
	if len(records) != 9 || err != nil {
		t.Errorf("%d records, error %v", len(records), err)
	}
	left, err := filepath.Glob(filepath.Join(state, "trust", ".new-*"))
	if len(left) != 0 || err != nil {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
