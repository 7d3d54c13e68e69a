package ledger

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/policy"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

func limited(calls int, length time.Duration) *config.PolicyRule {
	return &config.PolicyRule{
		Tools: []toolbox.Pattern{"a/*", "b/*"}, Limit: &config.PolicyLimit{Calls: calls, Window: length}, Else: config.Deny, File: "/config.json", Line: 3,
	}
}

func claim(rule *config.PolicyRule) policy.Claim {
	return policy.Claim{Rule: rule, Caller: config.CallerStdio}
}

// take counts a call, and returns after which time one is free; 0 if it was counted.
func take(t *testing.T, l *Ledger, claims ...policy.Claim) time.Duration {
	t.Helper()
	over, again, err := l.Take(claims)
	if err != nil {
		t.Fatal(err)
	}
	if (over >= 0) != (again > 0) {
		t.Fatalf("claim %d is over, and free in %v", over, again)
	}
	return again
}

func expect(t *testing.T, got, want time.Duration) {
	t.Helper()
	if got != want {
		t.Errorf("free in %v, want %v", got, want)
	}
}

// both runs a test with a file and in memory, with a clock of its own.
func both(t *testing.T, test func(t *testing.T, l *Ledger)) {
	for _, name := range []string{"memory", "file"} {
		t.Run(name, func(t *testing.T) {
			folder := ""
			if name == "file" {
				folder = filepath.Join(t.TempDir(), "state")
			}
			synctest.Test(t, func(t *testing.T) { test(t, New(folder)) })
		})
	}
}

func TestWindowSlides(t *testing.T) {
	both(t, func(t *testing.T, l *Ledger) {
		one := claim(limited(2, time.Hour))
		expect(t, take(t, l, one), 0)
		time.Sleep(20 * time.Minute)
		expect(t, take(t, l, one), 0)
		expect(t, take(t, l, one), 40*time.Minute)
		time.Sleep(40*time.Minute - 1)
		expect(t, take(t, l, one), 1)
		if used, again, err := l.Used(one); used != 2 || again != 1 || err != nil {
			t.Errorf("%d used, free in %v, %v", used, again, err)
		}
		time.Sleep(time.Nanosecond)
		expect(t, take(t, l, one), 0)
		expect(t, take(t, l, one), 20*time.Minute)
	})
}

func TestCallersAndRulesAreCountedApart(t *testing.T) {
	both(t, func(t *testing.T, l *Ledger) {
		rule := limited(1, time.Hour)
		expect(t, take(t, l, claim(rule)), 0)
		expect(t, take(t, l, policy.Claim{Rule: rule, Caller: "token:ci"}), 0)
		expect(t, take(t, l, claim(rule)), time.Hour)
		for _, change := range []func(*config.PolicyRule){
			func(r *config.PolicyRule) { r.File = "/other.json" },
			func(r *config.PolicyRule) { r.Tools = r.Tools[:1] },
			func(r *config.PolicyRule) { r.Except = []toolbox.Pattern{"a/b/c"} },
			func(r *config.PolicyRule) { r.Callers = []string{config.CallerStdio} },
			func(r *config.PolicyRule) { r.Hints.ReadOnly = new(bool) },
			func(r *config.PolicyRule) { r.Limit.Window++ },
		} {
			other := limited(1, time.Hour)
			change(other)
			expect(t, take(t, l, claim(other)), 0)
		}
		for _, same := range []func(*config.PolicyRule){
			func(r *config.PolicyRule) { r.Line++ },
			func(r *config.PolicyRule) { r.Because = "of this" },
			func(r *config.PolicyRule) { r.Tools = []toolbox.Pattern{"b/*", "a/*"} },
		} {
			moved := limited(1, time.Hour)
			same(moved)
			expect(t, take(t, l, claim(moved)), time.Hour)
		}
	})
}

func TestAllClaimsOrNone(t *testing.T) {
	both(t, func(t *testing.T, l *Ledger) {
		short, long := limited(1, time.Minute), limited(2, time.Hour)
		expect(t, take(t, l, claim(short), claim(long)), 0)
		expect(t, take(t, l, claim(short), claim(long)), time.Minute)
		if used, _, err := l.Used(claim(long)); used != 1 || err != nil {
			t.Errorf("a refused call counts: %d, %v", used, err)
		}
		expect(t, take(t, l, claim(long)), 0)
		long.Else = config.Ask
		over, again, err := l.Take([]policy.Claim{claim(long), claim(short)})
		if over != 1 || again != time.Minute || err != nil {
			t.Errorf("%d is over, free in %v, %v; want the one that denies", over, again, err)
		}
	})
}

func TestApprovedCallsCountBeyondTheLimit(t *testing.T) {
	both(t, func(t *testing.T, l *Ledger) {
		rule := limited(1, time.Hour)
		expect(t, take(t, l, claim(rule)), 0)
		time.Sleep(time.Minute)
		approved := claim(rule)
		approved.Approved = true
		expect(t, take(t, l, approved), 0)
		time.Sleep(59 * time.Minute)
		expect(t, take(t, l, claim(rule)), time.Minute)
		for range 2 * maxEntries { // the file stays bounded
			expect(t, take(t, l, approved), 0)
		}
		if used, _, err := l.Used(claim(rule)); used != 2*maxEntries+1 || err != nil {
			t.Errorf("%d are used, %v", used, err)
		}
	})
}

func TestEqualRulesAreOne(t *testing.T) {
	both(t, func(t *testing.T, l *Ledger) {
		expect(t, take(t, l, claim(limited(2, time.Hour)), claim(limited(2, time.Hour))), 0)
		expect(t, take(t, l, claim(limited(2, time.Hour)), claim(limited(2, time.Hour))), 0)
		expect(t, take(t, l, claim(limited(2, time.Hour)), claim(limited(2, time.Hour))), time.Hour)
	})
}

// A large limit is counted with fewer entries than calls: no call is free early, and none much later.
func TestLargeLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const calls, length = 10_000, 10_000 * time.Second
		l, one := New(""), claim(limited(calls, length))
		for range calls {
			expect(t, take(t, l, one), 0)
			time.Sleep(time.Second)
		}
		// The first call was one window ago. It may be counted with those shortly after it.
		again := take(t, l, one)
		if again > length/maxEntries+time.Second {
			t.Errorf("free in %v, want %v at most", again, length/maxEntries+time.Second)
		}
		if entries := len(l.kept[keyOf(one)].Entries); entries > maxEntries+1 {
			t.Errorf("%d entries", entries)
		}
		time.Sleep(length)
		expect(t, take(t, l, one), 0)
	})
}

func TestRestartKeepsCounts(t *testing.T) {
	folder := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		one := claim(limited(1, time.Hour))
		expect(t, take(t, New(folder), one), 0)
		expect(t, take(t, New(folder), one), time.Hour)
		time.Sleep(time.Hour)
		expect(t, take(t, New(folder), one), 0)
	})
	info, err := os.Stat(filepath.Join(folder, fileName))
	if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
}

// After the clock was set back, calls from the future count as long as if they were made now: no call is free early, and
// none is refused for ever.
func TestClockGoesBack(t *testing.T) {
	folder := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		one := claim(limited(2, time.Hour))
		future := time.Now().Add(100 * 24 * time.Hour).UnixNano()
		all := windows{keyOf(one): {Length: time.Hour, Entries: []entry{{future - 5, future, 1}, {future + 7, future + 7, 1}}}}
		if err := write(filepath.Join(folder, fileName), all); err != nil {
			t.Fatal(err)
		}
		expect(t, take(t, New(folder), one), time.Hour)
		time.Sleep(59 * time.Minute)
		expect(t, take(t, New(folder), one), time.Minute)
		time.Sleep(time.Minute)
		expect(t, take(t, New(folder), one), 0)
		expect(t, take(t, New(folder), one), 0)
		expect(t, take(t, New(folder), one), time.Hour)
	})
}

func TestUnusableFile(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"empty", "", "is damaged: unexpected end of JSON input"},
		{"cut off", `{"version":1,"windows":{"a"`, "is damaged"},
		{"another version", `{"version":2}`, "was written by a newer mcp-workbench (format 2, this one knows 1)"},
		{"no version", `{}`, "is damaged: there is no format 0"},
		{"another type", `[]`, "is damaged"},
		{"no window", `{"version":1,"windows":{"a":null}}`, "is damaged: a is not a window"},
		{"no length", `{"version":1,"windows":{"a":{"calls":[]}}}`, "is damaged: a is not a window"},
		{"negative calls", `{"version":1,"windows":{"a":{"window":1,"calls":[{"first":1,"last":1,"n":-5}]}}}`, "has calls that are not possible"},
		{"no order", `{"version":1,"windows":{"a":{"window":1,"calls":[{"first":5,"last":5,"n":1},{"first":1,"last":1,"n":1}]}}}`, "has calls that are not possible"},
		{"large", strings.Repeat(" ", maxFile+1), "cannot be read: it is larger than 16 MiB"},
	} {
		t.Run(test.name, func(t *testing.T) {
			folder := t.TempDir()
			path := filepath.Join(folder, fileName)
			if err := os.WriteFile(path, []byte(test.text), 0o600); err != nil {
				t.Fatal(err)
			}
			l := New(folder)
			_, _, err := l.Take([]policy.Claim{claim(limited(1, time.Hour))})
			if err == nil || !strings.Contains(err.Error(), path+" ") || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, want %q", err, test.want)
			}
			if now, err := os.ReadFile(path); err != nil || string(now) != test.text {
				t.Errorf("the file was changed: %.100q, %v", now, err)
			}
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			expect(t, take(t, l, claim(limited(1, time.Hour))), 0)
		})
	}
	t.Run("a folder", func(t *testing.T) {
		folder := t.TempDir()
		if err := os.Mkdir(filepath.Join(folder, fileName), 0o700); err != nil {
			t.Fatal(err)
		}
		if _, _, err := New(folder).Take([]policy.Claim{claim(limited(1, time.Hour))}); err == nil || !strings.Contains(err.Error(), "it is not a file") {
			t.Errorf("%v", err)
		}
	})
}

func TestOldestWindowsAreDropped(t *testing.T) {
	both(t, func(t *testing.T, l *Ledger) {
		rule := limited(1, time.Hour)
		of := func(i int) policy.Claim { return policy.Claim{Rule: rule, Caller: fmt.Sprint("token:", i)} }
		var claims []policy.Claim
		for i := range maxWindows {
			claims = append(claims, of(i+1))
		}
		expect(t, take(t, l, of(0)), 0)
		time.Sleep(time.Second)
		expect(t, take(t, l, claims...), 0)
		expect(t, take(t, l, of(1)), time.Hour)
		expect(t, take(t, l, of(0)), 0)
	})
}

// TestMain lets the test be a second process.
func TestManyWindowsOfAFileDropTheirOwn(t *testing.T) {
	both(t, func(t *testing.T, l *Ledger) {
		user := limited(1, time.Hour)
		user.File = "/user.json"
		expect(t, take(t, l, claim(user)), 0)
		time.Sleep(time.Second)
		var claims []policy.Claim
		for i := range maxWindows * 2 {
			rule := limited(10, time.Hour)
			rule.File, rule.Tools = "/project.json", []toolbox.Pattern{toolbox.Pattern(fmt.Sprint(i, "/*"))}
			claims = append(claims, claim(rule))
		}
		expect(t, take(t, l, claims...), 0)
		expect(t, take(t, l, claim(user)), time.Hour-time.Second)
	})
}

func TestMain(m *testing.M) {
	if folder := os.Getenv("LEDGER_TEST_FOLDER"); folder != "" {
		calls, err := strconv.Atoi(os.Getenv("LEDGER_TEST_LIMIT"))
		if err != nil {
			panic(err)
		}
		fmt.Print(takeMany(New(folder), calls))
		return
	}
	os.Exit(m.Run())
}

// takeMany takes more than the limit, and returns how many calls were counted.
func takeMany(l *Ledger, limit int) (taken int) {
	for range limit {
		over, _, err := l.Take([]policy.Claim{claim(limited(limit, time.Hour))})
		if err != nil {
			panic(err)
		}
		if over < 0 {
			taken++
		}
	}
	return taken
}

func TestProcessesShareCounts(t *testing.T) {
	const processes, limit = 4, 30
	folder := t.TempDir()
	counts := make([]int, processes)
	var all sync.WaitGroup
	for i := range processes {
		all.Go(func() {
			command := exec.CommandContext(t.Context(), os.Args[0])
			command.Env = append(os.Environ(), "LEDGER_TEST_FOLDER="+folder, fmt.Sprint("LEDGER_TEST_LIMIT=", limit))
			out, err := command.Output()
			if err == nil {
				counts[i], err = strconv.Atoi(string(out))
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	sum := 0
	for _, count := range counts {
		sum += count
	}
	if sum != limit {
		t.Errorf("%v were counted, %d in all, want %d", counts, sum, limit)
	}
}
