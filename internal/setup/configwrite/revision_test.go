package configwrite

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcp-workbench/mcp-workbench/internal/base/safefile"
	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/trust"
)

const valid = `{"toolboxes": {"t": {"description": "d", "mcpServers": {"s": {"command": "x", "env": {"TOKEN": "hunter2hunter2"}}}}}}`

// folder holds a configuration, and a state folder of its own.
type folder struct {
	path  string
	state string
}

func newFolder(t *testing.T, content string) folder {
	t.Helper()
	f := folder{filepath.Join(t.TempDir(), "workbench-config.json"), filepath.Join(t.TempDir(), "state")}
	if content != "" {
		write(t, f.path, content, 0o640)
	}
	return f
}

func write(t *testing.T, path, content string, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), mode); err != nil {
		t.Fatal(err)
	}
}

func (f folder) begin(t *testing.T) *Revision {
	t.Helper()
	r, err := ReadRevision(f.path, Options{StateDir: f.state, Environ: []string{"SHELL_VAR=s"}})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (f folder) verdict(t *testing.T) trust.Verdict {
	t.Helper()
	source, err := config.Read(f.path)
	if err != nil {
		t.Fatal(err)
	}
	verdict, err := trust.NewStore(f.state).Check(trust.FileOf(source))
	if err != nil {
		t.Fatal(err)
	}
	return verdict
}

func code(err error) toolbox.Code {
	if known, ok := errors.AsType[*toolbox.Error](err); ok {
		return known.Code
	}
	return ""
}

func TestWrite(t *testing.T) {
	f := newFolder(t, valid)
	next := Content{[]byte(strings.Replace(valid, "hunter2hunter2", "${TOKEN}", 1)), []byte("TOKEN=hunter2hunter2\n")}
	if err := f.begin(t).Write(t.Context(), next); err != nil {
		t.Fatal(err)
	}
	written := f.begin(t)
	if diff := cmp.Diff(next, written.Content()); diff != "" {
		t.Error(diff)
	}
	if value, ok := written.Variable("TOKEN"); !ok || value != "hunter2hunter2" {
		t.Errorf("TOKEN is %q, %v", value, ok)
	}
	if runtime.GOOS == "windows" {
		return
	}
	for path, want := range map[string]os.FileMode{f.path: 0o640, config.EnvPath(f.path): 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
}

func TestWriteNew(t *testing.T) {
	f := newFolder(t, "")
	f.path = filepath.Join(filepath.Dir(f.path), "deep", "er", "workbench-config.json")
	r := f.begin(t)
	if !r.IsNew {
		t.Error("it is not new")
	}
	if err := r.Write(t.Context(), Content{Data: []byte(valid)}); err != nil {
		t.Fatal(err)
	}
	if f.begin(t).IsNew {
		t.Error("it was not written")
	}
}

func TestALinkStaysOne(t *testing.T) {
	f := newFolder(t, valid)
	link := filepath.Join(filepath.Dir(f.path), "link.json")
	if err := os.Symlink(f.path, link); err != nil {
		t.Skip(err)
	}
	r := folder{link, f.state}.begin(t)
	if err := r.Write(t.Context(), Content{Data: []byte("{}")}); err != nil {
		t.Fatal(err)
	}
	info, err := os.Lstat(link)
	if err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is %v, %v", info.Mode(), err)
	}
	if got, err := os.ReadFile(f.path); err != nil || string(got) != "{}" {
		t.Errorf("the file holds %s, %v", got, err)
	}
}

func TestAnothersChangeIsKept(t *testing.T) {
	f := newFolder(t, valid)
	for _, change := range []func(){
		func() { write(t, f.path, valid+"\n", 0o640) },
		func() { write(t, config.EnvPath(f.path), "A=1\n", 0o600) },
		func() {
			if err := os.Remove(f.path); err != nil {
				t.Fatal(err)
			}
		},
	} {
		r := f.begin(t)
		change()
		if err := r.Write(t.Context(), Content{Data: []byte("{}")}); code(err) != toolbox.FileChanged {
			t.Errorf("got %v", err)
		}
	}
}

func TestTwoAtOnce(t *testing.T) {
	f := newFolder(t, valid)
	r := f.begin(t)
	release, err := r.lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	// The wait itself is safefile's, and has its own tests.
	path, err := filepath.Glob(filepath.Join(f.state, "locks", "*.lock"))
	if err != nil || len(path) != 1 {
		t.Fatalf("locks: %v, %v", path, err)
	}
	if _, err := safefile.Lock(t.Context(), path[0], 20*time.Millisecond); !errors.Is(err, safefile.ErrLocked) {
		t.Errorf("got %v", err)
	}
}

func TestTrustIsKept(t *testing.T) {
	for _, tt := range []struct {
		name    string
		trusted bool
		want    trust.Verdict
	}{
		{"of a trusted file", true, trust.Trusted},
		{"but not given", false, trust.Unknown},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFolder(t, valid)
			r := f.begin(t)
			if tt.trusted {
				if err := trust.NewStore(f.state).Add(trust.FileOf(r.source)); err != nil {
					t.Fatal(err)
				}
			}
			if err := r.Write(t.Context(), Content{Data: []byte(valid + "\n"), Env: []byte("A=1\n")}); err != nil {
				t.Fatal(err)
			}
			if got := f.verdict(t); got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
	t.Run("of one's own new file under version control", func(t *testing.T) {
		f := newFolder(t, "")
		if err := os.Mkdir(filepath.Join(filepath.Dir(f.path), ".git"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := f.begin(t).Write(t.Context(), Content{Data: []byte(valid)}); err != nil {
			t.Fatal(err)
		}
		if got := f.verdict(t); got != trust.Trusted {
			t.Errorf("got %v", got)
		}
	})
}

func TestCheck(t *testing.T) {
	broken := strings.Replace(valid, `"command": "x"`, `"command": "${UNSET}"`, 1)
	for _, tt := range []struct {
		name, before, after string
		refused, remaining  bool
	}{
		{"valid", valid, valid, false, false},
		{"a variable of the environment", valid, strings.Replace(valid, `"x"`, `"${SHELL_VAR}"`, 1), false, false},
		{"a new mistake", valid, broken, true, false},
		{"a mistake of before", broken, strings.Replace(broken, `"d"`, `"e"`, 1), false, true},
		{"another mistake", broken, strings.Replace(broken, `"d"`, `1`, 1), true, false},
		{"a mended one", broken, valid, false, false},
		{"nothing before", "", broken, true, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			remaining, err := newFolder(t, tt.before).begin(t).Check(Content{Data: []byte(tt.after)})
			if (err != nil) != tt.refused || (remaining != nil) != tt.remaining {
				t.Errorf("got %v, %v", remaining, err)
			}
		})
	}
}

func TestMaskerHidesSecrets(t *testing.T) {
	before := strings.Replace(valid, `"command": "x"`, `"args": ["--api-key", "abcd1234"]`, 1) // which does not load
	got := newFolder(t, before).begin(t).Masker(Content{Data: []byte(valid)}).Mask(before)
	if strings.Contains(got, "hunter2") || strings.Contains(got, "abcd1234") || !strings.Contains(got, "--api-key") {
		t.Error(got)
	}
}

func TestOutline(t *testing.T) {
	outline, err := newFolder(t, valid).begin(t).Outline()
	if err != nil || len(outline.Toolboxes) != 1 || len(outline.Servers) != 1 {
		t.Errorf("got %+v, %v", outline, err)
	}
	if outline, err := newFolder(t, "").begin(t).Outline(); err != nil || len(outline.Toolboxes) != 0 {
		t.Errorf("got %+v, %v", outline, err)
	}
}
