package clients

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

// This file is the table of docs/clients.md, of what was found.

// updateVariable has the table written there, if every client was tried.
const updateVariable = "CLIENTS_UPDATE"

const guide = "../../docs/clients.md"

// table collects the rows of clients that did as they should.
type table struct {
	mu     sync.Mutex
	rows   []result
	failed bool
}

var tried table

func (all *table) add(t *testing.T, r result) {
	t.Helper()
	all.mu.Lock()
	defer all.mu.Unlock()
	if all.failed = all.failed || t.Failed(); !t.Failed() {
		all.rows = append(all.rows, r)
	}
}

const head = "| client | version | tried on | over | revision | remarks |\n| --- | --- | --- | --- | --- | --- |\n"

func (all *table) String() string {
	var text strings.Builder
	text.WriteString(head)
	for _, r := range all.rows {
		fmt.Fprintf(&text, "| %s | %s | %s | %s | %s | %s |\n", r.title, r.version, time.Now().UTC().Format(time.DateOnly), r.over, r.era, r.remark)
	}
	return text.String()
}

// tell prints the table, and writes it into the guide if that is wanted.
func (all *table) tell() error {
	if len(all.rows) == 0 {
		return nil
	}
	fmt.Print(all)
	if os.Getenv(updateVariable) == "" {
		return nil
	}
	if all.failed || len(all.rows) < 2*len(agents)+len(plains) {
		return errors.New("the guide was not written, since not every client did as it should")
	}
	text, err := os.ReadFile(guide)
	if err != nil {
		return err
	}
	before, _, _ := strings.Cut(string(text), head)
	_, after, found := strings.Cut(string(text[len(before):]), "\n\n")
	if !found {
		return errors.New(guide + " has no table of clients that were tried")
	}
	return os.WriteFile(guide, []byte(before+all.String()+"\n"+after), 0o644)
}

// The guide names the clients as they are pinned, so that the table is written again when
// others are tried.
func TestGuideNamesPinnedVersions(t *testing.T) {
	if os.Getenv(updateVariable) != "" {
		t.Skip("the guide is about to be written")
	}
	text, err := os.ReadFile(guide)
	if err != nil {
		t.Fatal(err)
	}
	row := func(name, title, over string) {
		_, version, err := dependency(filepath.Join("npm", name))
		if err != nil {
			t.Fatal(err)
		}
		wanted := regexp.MustCompile(`(?m)^\| ` + regexp.QuoteMeta(title) + ` \| ` + regexp.QuoteMeta(version) + ` \| \d{4}-\d\d-\d\d \| ` + over + ` \|`)
		if !wanted.Match(text) {
			t.Errorf("docs/clients.md has no row for %s %s over %s: run 'make clients UPDATE=1'", title, version, over)
		}
	}
	for _, a := range agents {
		row(a.name, a.title, "stdio")
		row(a.name, a.title, "HTTP")
	}
	for _, p := range plains {
		row(p.name, p.title, p.over)
	}
}
