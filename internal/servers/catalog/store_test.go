package catalog

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/base/stored"
)

// filesIn returns the names of the files in a folder, without those of hints.
func filesIn(t testing.TB, folder string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if !strings.HasSuffix(entry.Name(), hintsSuffix) {
			names = append(names, entry.Name())
		}
	}
	return names
}

// logged returns a baseline and what it says.
func logged(folder string) (*Baseline, *bytes.Buffer) {
	var log bytes.Buffer
	return NewBaseline(folder, slog.New(slog.NewTextHandler(&log, nil))), &log
}

func TestStoredFileHoldsDefinitionsWithoutSecrets(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "state", "definitions")
	b, log := logged(folder)
	mask := func(text string) string { return strings.ReplaceAll(text, "hunter22", "[hidden]") }
	now := instructed(t, "use hunter22", described("a", "telldescription hunter22\u200b"), described("hunter22", "x"), `{"name":"b","hunter22":1}`)
	b.Compare("fs", Hash{1}, now, mask)
	want := Hash{1}.String() + ".json"
	if names := filesIn(t, folder); !slices.Equal(names, []string{want}) {
		t.Fatalf("the files are %q, want %q", names, want)
	}
	data, err := os.ReadFile(filepath.Join(folder, want))
	if err != nil {
		t.Fatal(err)
	}
	for text, has := range map[string]bool{
		"hunter22": false, "\u200b": false, `"telldescription [hidden]\u200b"`: true, `"text":"use [hidden]"`: true, `"name":"[hidden]"`: true, `"b"`: false,
	} {
		if bytes.Contains(data, []byte(text)) != has {
			t.Errorf("the file has %q: %t\n%s", text, !has, data)
		}
	}
	if log.Len() > 0 {
		t.Errorf("the log has %s", log)
	}
	if runtime.GOOS == "windows" {
		return // has no such modes
	}
	for path, want := range map[string]os.FileMode{
		filepath.Dir(folder): 0o700, folder: 0o700, filepath.Join(folder, want): 0o600,
	} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s has mode %v (%v), want %v", path, info.Mode(), err, want)
		}
	}
}

func TestDamagedFilesCountAsNeverSeen(t *testing.T) {
	good := (&fileContent{tools: []rememberedTool{{name: Hash{1}, record: Record{Hash: Hash{2}, Content: []byte(`{}`)}}}}).encode(stored.Definitions)
	zeros := strings.Repeat("0", 64)
	for name, content := range map[string]string{
		"empty":           "",
		"cut off":         string(good[:len(good)/2]),
		"no JSON":         "hello",
		"no object":       "[]",
		"other version":   `{"version":0,"tools":[]}`,
		"no record":       `{"version":2,"tools":[{"name":"` + zeros + `"}]}`,
		"a wrong record":  `{"version":2,"tools":[{"name":"` + zeros + `","record":{"sha256":"` + zeros + `","text":"x"}}]}`,
		"no instructions": `{"version":2,"instructions":true,"tools":[]}`,
		"no version":      `{"tools":[]}`,
		"no hash":         `{"version":1,"tools":[{"name":"a","definition":"b"}]}`,
		"short hash":      `{"version":1,"tools":[{"name":"00","definition":"00"}]}`,
		"long hash":       `{"version":1,"tools":[{"name":"` + strings.Repeat("0", 66) + `","definition":"` + strings.Repeat("0", 64) + `"}]}`,
		"more behind it":  string(good) + "x",
		"nul bytes":       strings.Repeat("\x00", 4096),
		"absurdly nested": strings.Repeat("[", 1<<20),
		"too long":        string(good) + strings.Repeat(" ", maxStoredFile),
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			b, log := logged(folder)
			if err := os.WriteFile(b.store.path(Hash{1}), []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
			if warnings, _ := compare(t, b, Hash{1}, named("a")); warnings != nil {
				t.Errorf("warnings are %q", warnings)
			}
			if !strings.Contains(log.String(), "level=WARN") || !strings.Contains(log.String(), Hash{1}.String()) {
				t.Errorf("the log has %q, want the file", log)
			}
			again, log := logged(folder)
			if warnings, _ := compare(t, again, Hash{1}, described("a", "x")); !slices.Equal(warnings, []string{changedWarning("a")}) || log.Len() > 0 {
				t.Errorf("the file was not written anew: warnings %q, log %q", warnings, log)
			}
		})
	}
}

// The path is taken by something that is no file, or the folder cannot be made: nothing
// can be kept, and all else goes on.
func TestUnusablePlaces(t *testing.T) {
	for name, occupy := range map[string]func(t *testing.T, folder string, b *Baseline) error{
		"folder in place of the file": func(_ *testing.T, _ string, b *Baseline) error {
			return os.MkdirAll(filepath.Join(b.store.path(Hash{1}), "x"), 0o700)
		},
		"file in place of the folder": func(_ *testing.T, folder string, _ *Baseline) error {
			return os.WriteFile(folder, nil, 0o600)
		},
	} {
		t.Run(name, func(t *testing.T) {
			folder := filepath.Join(t.TempDir(), "definitions")
			b, log := logged(folder)
			if err := occupy(t, folder, b); err != nil {
				t.Fatal(err)
			}
			compare(t, b, Hash{1}, described("a", "one"))
			if warnings, _ := compare(t, b, Hash{1}, described("a", "two")); !slices.Equal(warnings, []string{changedWarning("a")}) {
				t.Errorf("within the run, warnings are %q", warnings)
			}
			if strings.Count(log.String(), "could not store the definitions") != 1 {
				t.Errorf("the log has %q", log)
			}
			if info, err := os.Stat(folder); err == nil && info.IsDir() && len(filesIn(t, folder)) != 2 { // with what was accepted
				t.Errorf("files are left: %q", filesIn(t, folder))
			}
		})
	}
}

// A reader never sees a part of a file, however often it is replaced.
func TestFilesAreReplacedAsAWhole(t *testing.T) {
	st := store{folder: t.TempDir(), suffix: seenSuffix, kind: stored.Definitions}
	path := st.path(Hash{})
	contents := [][]byte{bytes.Repeat([]byte("a"), 1<<16), bytes.Repeat([]byte("b"), 1<<18)}
	if err := st.replaceFile(Hash{}, contents[0]); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := range 100 {
			if err := st.replaceFile(Hash{}, contents[i%2]); err != nil {
				t.Error(err)
			}
		}
	}()
	for {
		data, err := os.ReadFile(path)
		if err != nil || !bytes.Equal(data, contents[0]) && !bytes.Equal(data, contents[1]) {
			t.Errorf("read %d bytes, %v", len(data), err)
		}
		select {
		case <-done:
			return
		default:
		}
	}
}

func TestUnchangedFilesAreNotWritten(t *testing.T) {
	folder := t.TempDir()
	compare(t, NewBaseline(folder, nil), Hash{1}, named("a"))
	path := store{folder: folder, suffix: seenSuffix}.path(Hash{1})
	before, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	compare(t, NewBaseline(folder, nil), Hash{1}, named("a"))
	if after, err := os.Stat(path); err != nil || !os.SameFile(before, after) {
		t.Errorf("the file was replaced (%v)", err)
	}
}

func TestOldFilesArePruned(t *testing.T) {
	folder := t.TempDir()
	long := time.Now().Add(-48 * time.Hour)
	write := func(name string, modified time.Time) {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(`{"version":1,"tools":[]}`), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, modified, modified); err != nil {
			t.Fatal(err)
		}
	}
	key := func(i int) (key Hash) {
		binary.BigEndian.PutUint64(key[:], uint64(i))
		return key
	}
	for i := range maxStoredFiles + 5 {
		write(key(i).String()+seenSuffix, long.Add(time.Duration(i)*time.Second))
	}
	write("crashed"+unfinished, long)
	write("current"+unfinished, time.Now())
	b, log := logged(folder)
	compare(t, b, key(0)) // is in use, and so is not the oldest any more
	compare(t, b, key(1_000_000), named("a"))
	names := filesIn(t, folder)
	if len(names) != maxStoredFiles+1 || log.Len() > 0 {
		t.Errorf("%d files are left, log %q", len(names), log)
	}
	for name, want := range map[string]bool{
		key(0).String() + seenSuffix: true, key(1).String() + seenSuffix: false,
		key(6).String() + seenSuffix: false, key(7).String() + seenSuffix: true,
		key(1_000_000).String() + seenSuffix: true,
		"crashed" + unfinished:               false, "current" + unfinished: true,
	} {
		if slices.Contains(names, name) != want {
			t.Errorf("%s is there: %v", name, !want)
		}
	}
}

func FuzzDecodeStored(f *testing.F) {
	for n := range 3 {
		f.Add((&fileContent{instructions: &Record{Content: []byte(`"x"`)}, tools: make([]rememberedTool, n)}).encode(stored.Definitions))
	}
	f.Add([]byte(`{"version":1,"tools":[{}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		kept, err := decode(data, stored.Definitions)
		if err != nil {
			return
		}
		if same, err := decode(kept.encode(stored.Definitions), stored.Definitions); err != nil || !reflect.DeepEqual(same, kept) {
			t.Fatal(fmt.Sprint("read back otherwise: ", err))
		}
	})
}
