//go:build linux

package page

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/mcp-workbench/mcp-workbench/test/npm"
)

// update writes the screenshots of the documentation.
var update = flag.Bool("update", false, "write the screenshots of docs/page.md")

// browseTime bounds one run of the browser; it ends by itself long before.
const browseTime = 5 * time.Minute

// check is one line that a script prints: what holds, or what it measured.
type check struct {
	Check   string
	OK      bool
	Why     string
	Figures *figures
}

// browse runs a script with a bench, and reports what does not hold; it returns what was measured.
func browse(t *testing.T, script string, b *bench) (measured []figures) {
	t.Helper()
	for _, file := range []string{script, "driver.mjs"} { // also tells Go's cache of results that we depend on it
		if _, err := os.Stat(file); err != nil {
			t.Fatal(err)
		}
	}
	node, _ := npm.NeedBrowser(t)
	settings := b.write(t, "bench.json", b)
	ctx, cancel := context.WithTimeout(t.Context(), browseTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, node, script, settings)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	var stderr strings.Builder
	cmd.Stderr = &stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	last := ""
	for scanner := bufio.NewScanner(stdout); scanner.Scan(); {
		var one check
		if err := json.Unmarshal(scanner.Bytes(), &one); err != nil {
			t.Errorf("%s printed %q: %v", script, scanner.Text(), err)
			continue
		}
		if one.Figures != nil {
			measured = append(measured, *one.Figures)
			continue
		}
		last = one.Check
		t.Run(one.Check, func(t *testing.T) {
			if !one.OK {
				t.Error(one.Why)
			}
		})
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%s: %v\n%s", script, err, &stderr)
	}
	if last != "end" {
		t.Fatalf("%s did not come to its end, but to '%s'\n%s", script, last, &stderr)
	}
	return measured
}

// screenshots is where pictures go; "" for none.
func screenshots(t *testing.T) string {
	if !*update {
		return ""
	}
	path, err := filepath.Abs("../../docs/page")
	if err == nil {
		err = os.MkdirAll(path, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func TestViewsAndActions(t *testing.T) {
	b := newBench(t)
	b.Screenshots = screenshots(t)
	browse(t, "views.mjs", b)
}

// The documentation has a picture of each view, light and dark, and no other.
func TestPicturesOfTheDocumentation(t *testing.T) {
	text, err := os.ReadFile("../../docs/page.md")
	if err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir("../../docs/page")
	if err != nil {
		t.Fatal(err)
	}
	index, err := os.ReadFile("../../internal/web/page/assets/views/index.js")
	if err != nil {
		t.Fatal(err)
	}
	ids := regexp.MustCompile(`\{ id: '(\w+)'`).FindAllStringSubmatch(string(index), -1)
	want := make(map[string]bool)
	for _, id := range ids {
		for _, scheme := range []string{"light", "dark"} {
			want[id[1]+"-"+scheme+".png"] = true
		}
	}
	for name := range want {
		if !strings.Contains(string(text), `"page/`+name+`"`) {
			t.Errorf("docs/page.md does not show %s", name)
		}
	}
	for _, file := range files {
		if !want[file.Name()] {
			t.Errorf("docs/page/%s is of no view", file.Name())
		}
		delete(want, file.Name())
	}
	for name := range want {
		t.Errorf("docs/page/%s is missing: make screenshots", name)
	}
}
