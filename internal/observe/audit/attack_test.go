package audit

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// verifyWith verifies a log with the keys of several folders.
func (r *rig) verifyWith(folders ...string) *Report {
	r.t.Helper()
	var options VerifyOptions
	for _, folder := range folders {
		key, err := PublicKey(folder)
		if err != nil {
			r.t.Fatal(err)
		}
		options.Keys = append(options.Keys, key)
	}
	report, err := Verify(r.options.Folder, options)
	if err != nil {
		r.t.Fatal(err)
	}
	return report
}

// read returns the lines of each file of a log.
func (r *rig) read() (files []string, lines [][]string) {
	r.t.Helper()
	files, err := filesAt(r.options.Folder)
	if err != nil {
		r.t.Fatal(err)
	}
	for _, path := range files {
		data, err := os.ReadFile(path)
		if err != nil {
			r.t.Fatal(err)
		}
		lines = append(lines, slices.Collect(strings.Lines(string(data))))
	}
	return files, lines
}

func (r *rig) replace(path, text string) {
	r.t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		r.t.Fatal(err)
	}
}

// Two state folders that write to one log at once have different keys: nothing is wrong with it, and with both keys all of it
// is vouched for.
func TestTwoKeysInOneLog(t *testing.T) {
	a, b := newRig(t), newRig(t)
	b.options.Folder = a.options.Folder
	a.options.maxFile, b.options.maxFile = 3000, 3000
	for range 2 {
		var both sync.WaitGroup
		for _, r := range []*rig{a, b} {
			both.Go(func() {
				l := Open(r.options)
				for range 20 {
					if err := l.addDurably(context.Background(), newFields(eventReload, "ok")); err != nil {
						t.Error(err)
					}
				}
				if err := l.Close(context.Background()); err != nil {
					t.Error(err)
				}
			})
		}
		both.Wait()
	}
	for _, r := range []*rig{a, b} {
		report := a.verifyWith(r.options.Keys)
		if len(report.Findings) > 0 || len(report.Others) != 1 || report.Sealed.Line == 0 || report.Killed > 0 || report.Files < 2 {
			t.Errorf("with one key the report is %+v", report)
		}
	}
	if report := a.verifyWith(b.options.Keys, a.options.Keys); len(report.Findings)+len(report.Others) > 0 || report.Sealed != report.Last {
		t.Errorf("with both keys the report is %+v", report)
	}
	if report := a.verifyWith(newRigWithKey(t).options.Keys); len(report.Findings) > 0 || len(report.Others) != 2 || report.Sealed.Line != 0 {
		t.Errorf("with neither key the report is %+v", report)
	}
}

func newRigWithKey(t *testing.T) *rig {
	r := newRig(t)
	if _, err := loadKeys(r.options.Keys); err != nil {
		t.Fatal(err)
	}
	return r
}

// A key that was replaced is noticed, with the place where the new one begins, and does not vouch for earlier lines by itself.
func TestReplacedKey(t *testing.T) {
	r := newRig(t)
	r.write(2)
	before := r.good()
	if err := os.Remove(filepath.Join(r.options.Keys, sealKeyFile)); err != nil {
		t.Fatal(err)
	}
	r.write(1)
	report := r.verify("")
	if len(report.Findings) > 0 || len(report.Others) != 1 || report.Others[0].Last != before.Sealed || report.Others[0].Seals != before.Seals {
		t.Errorf("the report is %+v", report)
	}
}

// Who has not the key cannot seal: a log that was written anew from a line on is vouched for up to the last seal before it.
func TestForgedTail(t *testing.T) {
	r, forger := newRig(t), newRig(t)
	r.write(2)
	sealed := r.good().Sealed
	r.write(2)
	path := filepath.Join(r.options.Folder, fileName(1))
	_, lines := r.read()
	r.replace(path, strings.Join(lines[0][:sealed.Line], ""))
	forger.options.Folder = r.options.Folder
	forger.write(2)
	if report := r.verify(""); report.Sealed != sealed || len(report.Others) != 1 || report.Others[0].First.Line <= sealed.Line {
		t.Errorf("the report is %+v", report)
	}
	// The name of the right key does not help.
	own, other := publicKeyText(t, r), publicKeyText(t, forger)
	_, lines = r.read()
	r.replace(path, strings.ReplaceAll(strings.Join(lines[0], ""), other, own))
	if report := r.verify(""); report.Sealed != sealed || len(report.Findings) == 0 {
		t.Errorf("the report is %+v", report)
	}
}

func publicKeyText(t *testing.T, r *rig) string {
	key, err := PublicKey(r.options.Keys)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%x", []byte(key))
}

// What somebody does to whole files is found.
func TestChangesOfFilesAreFound(t *testing.T) {
	for name, change := range map[string]func(r *rig, files []string, lines [][]string) (file int){
		"first is removed": func(r *rig, files []string, _ [][]string) int { r.remove(files[0]); return 1 },
		"one is removed":   func(r *rig, files []string, _ [][]string) int { r.remove(files[1]); return 2 },
		"one is empty":     func(r *rig, files []string, _ [][]string) int { r.replace(files[1], ""); return 2 },
		"one is cut": func(r *rig, files []string, lines [][]string) int {
			r.replace(files[1], strings.Join(lines[1][:1], ""))
			return 2
		},
		"one is cut in a line": func(r *rig, files []string, lines [][]string) int {
			all := strings.Join(lines[1], "")
			r.replace(files[1], all[:len(all)-30])
			return 1
		},
		"one has another's content": func(r *rig, files []string, lines [][]string) int {
			r.replace(files[1], strings.Join(lines[0], ""))
			return 1
		},
		"two are swapped": func(r *rig, files []string, lines [][]string) int {
			r.replace(files[0], strings.Join(lines[1], ""))
			r.replace(files[1], strings.Join(lines[0], ""))
			return 0
		},
		"a long line": func(r *rig, files []string, lines [][]string) int {
			r.replace(files[1], strings.Join(lines[1], "")+strings.Repeat("x", 3*maxLine)+"\n")
			return 1
		},
		"a line that looks like one": func(r *rig, files []string, lines [][]string) int {
			r.replace(files[1], strings.Join(lines[1], "")+`{"seq":4,"event":"log","outcome":"torn","count":1}`+"\n")
			return 1
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.options.maxFile = 700
			r.write(10)
			r.good()
			files, lines := r.read()
			if len(files) < 4 {
				t.Fatalf("there are only %v", files)
			}
			at := files[change(r, files, lines)]
			report := r.verify("")
			if !slices.ContainsFunc(report.Findings, func(f Finding) bool { return f.File == at }) || report.Findings[0].File > files[2] {
				t.Errorf("found %v, want something in %s", report.Findings, at)
			}
			if report.Sealed.File > at && report.First.Seq == 1 {
				t.Errorf("it vouches up to %+v", report.Sealed)
			}
		})
	}
}

func (r *rig) remove(path string) {
	r.t.Helper()
	if err := os.Remove(path); err != nil {
		r.t.Fatal(err)
	}
}

// Any change of lines before the last seal is found, at the line or at the next one.
func TestRandomChangesAreFound(t *testing.T) {
	r := newRig(t)
	r.options.maxFile = 1200
	for range 3 {
		r.write(4)
	}
	files, lines := r.read()
	for round := range 500 {
		n := rand.IntN(len(files))
		before := lines[n]
		after := slices.Clone(before)
		last := len(before) // in the last file the last line stays: without it, the log only ends earlier
		if n == len(files)-1 {
			last--
		}
		i, j := rand.IntN(last), rand.IntN(last)
		switch rand.IntN(5) {
		case 0:
			after = slices.Delete(after, i, i+1)
		case 1:
			after = slices.Insert(after, i, before[j])
		case 2:
			after[i], after[j] = after[j], after[i]
		case 3:
			after[i] = before[j]
		case 4:
			at, text := rand.IntN(len(before[i])), []byte(before[i])
			text[at] = byte(rand.IntN(256))
			after[i] = string(text)
		}
		if slices.Equal(before, after) {
			continue
		}
		r.replace(files[n], strings.Join(after, ""))
		if report := r.verify(""); len(report.Findings) == 0 {
			t.Fatalf("round %d: nothing was found in %s:\n%s", round, files[n], strings.Join(after, ""))
		}
		r.replace(files[n], strings.Join(before, ""))
	}
	r.good()
}

// A writer goes on after any end that a process which was killed may have left, and the log verifies.
func TestEveryTornEnd(t *testing.T) {
	r := newRig(t)
	r.write(1)
	path := filepath.Join(r.options.Folder, fileName(1))
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	sealed := bytes.Index(whole, []byte(signatureMember))
	sealed += bytes.IndexByte(whole[sealed:], '\n') + 1 // the end of the first seal
	for end := sealed; end <= len(whole); end += 7 {
		if at := bytes.LastIndexByte(whole[:end], '}'); at > 0 && end-at < 7 {
			end = at + 1 // a whole line without its end
		}
		r.replace(path, string(whole[:end]))
		r.good()
		for range 2 {
			r.write(1)
			if report := r.good(); report.Sealed != report.Last {
				t.Fatalf("cut at %d: the report is %+v of\n%s", end, report, r.text())
			}
		}
		// Torn again, in the midst of the line that explains it.
		r.replace(path, string(whole[:end])+"\n"+`{"seq":`)
		r.write(1)
		r.good()
	}
}

// Verification of one file of several, with the key alone.
func TestSingleFile(t *testing.T) {
	r := newRig(t)
	r.options.maxFile = 700
	r.write(5)
	files, _ := filesAt(r.options.Folder)
	key, err := PublicKey(r.options.Keys)
	if err != nil {
		t.Fatal(err)
	}
	report, err := Verify(files[1], VerifyOptions{Keys: []ed25519.PublicKey{key}})
	if err != nil || len(report.Findings) > 0 || !report.IsPart() || report.Sealed != report.Last {
		t.Errorf("the report is %+v, %v", report, err)
	}
}

// A last line that was made unreadable is not taken for one that a process was killed in, also after the next start.
func TestDamagedEnd(t *testing.T) {
	for name, damage := range map[string]func(line string) string{
		"a quote":    func(line string) string { return strings.Replace(line, `"event"`, `"event`, 1) },
		"its begin":  func(line string) string { return strings.Replace(line, "{", "x", 1) },
		"other text": func(string) string { return "nothing happened\n" },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.write(2)
			path := filepath.Join(r.options.Folder, fileName(1))
			_, lines := r.read()
			last := len(lines[0]) - 1
			r.replace(path, strings.Join(lines[0][:last], "")+damage(lines[0][last]))
			for range 2 {
				if report := r.verify(""); len(report.Findings) == 0 || report.Findings[0].Line != last+1 {
					t.Errorf("found %v", report.Findings)
				}
				r.write(1)
			}
		})
	}
}

// Who removes a file, and adds a line which says that a workbench did, is found out, also if a workbench seals that line later.
func TestForgedRemovalIsFound(t *testing.T) {
	r := newRig(t)
	r.options.maxFile = 700
	r.write(10)
	r.good()
	files, lines := r.read()
	gone := strings.TrimSuffix(lines[0][len(lines[0])-1], "\n")
	known, _ := parseLine([]byte(gone))
	end := files[len(files)-1]
	last := lines[len(files)-1]
	before := strings.TrimSuffix(last[len(last)-1], "\n")
	prior, _ := parseLine([]byte(before))
	c := composer{head: head{prior.Seq, sha256.Sum256([]byte(before))}, writer: prior.Writer}
	sum := sha256.Sum256([]byte(gone))
	c.add(time.Now(), newFields(eventLog, "removed").text("file", fileName(1)).number("through", int64(known.Seq)).hexadecimal("head", sum[:]))
	r.remove(files[0])
	r.replace(end, strings.Join(last, "")+string(c.text))
	isFound := func() bool {
		return slices.ContainsFunc(r.verify("").Findings, func(f Finding) bool { return strings.Contains(f.Reason, "does not say") })
	}
	if !isFound() {
		t.Error("nothing was found")
	}
	if r.write(1); !isFound() {
		t.Error("nothing was found once the line was sealed")
	}
}

// What a running workbench removes is sealed at once, so that it can be told from what others removed.
func TestRemovalIsSealedAtOnce(t *testing.T) {
	r := newRig(t)
	r.options.maxFile, r.options.Keep = 700, time.Hour
	r.write(10)
	l := Open(r.options)
	defer r.close(l)
	add := func() {
		if err := l.addDurably(context.Background(), newFields(eventReload, "ok")); err != nil {
			t.Fatal(err)
		}
	}
	add()
	files, _ := r.read()
	long := time.Now().Add(-2 * time.Hour)
	if err := os.Chtimes(files[0], long, long); err != nil {
		t.Fatal(err)
	}
	add()
	if left, _ := r.read(); left[0] == files[0] {
		t.Fatal("an old file is kept")
	}
	if report := r.verify(""); len(report.Findings) > 0 {
		t.Errorf("found %v", report.Findings)
	}
}

// A process may be killed when it has begun a file, and written nothing, or a part of the first line.
func TestTornFirstLineOfAFile(t *testing.T) {
	for _, torn := range []string{`{`, `{"seq":5,"format":1,"time":"20`, `{"seq":5,"for`, ``} {
		r := newRig(t)
		r.options.maxFile = 700
		r.write(4)
		files, _ := r.read()
		next := filepath.Join(r.options.Folder, fileName(len(files)+1))
		if err := os.WriteFile(next, []byte(torn), 0o600); err != nil {
			t.Fatal(err)
		}
		r.good()
		r.write(2)
		if report := r.good(); report.Torn != min(len(torn), 1) {
			t.Errorf("after %q the report is %+v", torn, report)
		}
	}
}
