//go:build unix

package audit

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// What was acknowledged is in the log after kill -9, and the next start says that a workbench was killed.
func TestKill(t *testing.T) {
	folder := t.TempDir()
	r := &rig{t, Options{Folder: filepath.Join(folder, "log"), Keys: filepath.Join(folder, "keys")}}
	for round := 1; round <= 5; round++ {
		writer := exec.Command(os.Args[0])
		writer.Env = append(os.Environ(), "AUDIT_TEST_WRITER="+folder)
		out, err := writer.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := writer.Start(); err != nil {
			t.Fatal(err)
		}
		last := ""
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if last == "" { // in the midst of a later write
				time.AfterFunc(time.Duration(10+30*round)*time.Millisecond, func() { _ = writer.Process.Kill() })
			}
			last = lines.Text()
		}
		_ = writer.Wait() // it was killed
		if !strings.Contains(r.text(), `"acknowledged":`+last+`,`) {
			t.Errorf("round %d: %s was acknowledged, and is not in the log", round, last)
		}
		if report := r.good(); report.Killed != round { // also before another process says so
			t.Errorf("round %d: the report is %+v", round, report)
		}
	}
	// As if the last write had been cut off in the middle of a line.
	files, _ := filesAt(r.options.Folder)
	f, err := os.OpenFile(files[len(files)-1], os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(`{"seq":17,"time":`); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if report := r.good(); report.Torn != 1 {
		t.Errorf("the report is %+v", report)
	}
	r.write(1)
	if report := r.good(); report.Killed != 5 || report.Torn != 1 || report.Sealed != report.Last {
		t.Errorf("the report is %+v", report)
	}
}
