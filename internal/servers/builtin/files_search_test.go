package builtin

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func TestSearch(t *testing.T) {
	f := tree(t, map[string]string{
		"a.go":              "package a\n\nfunc Needle() {}\n",
		"docs/b.md":         "a needle in\r\nthe hay NEEDLE needle\r\n",
		"node_modules/c.go": "needle",
		"bin":               "needle\x00",
		"straße.txt":        "Öl und Straße",
	})
	session := connect(t, f, nil)
	for _, test := range []struct {
		args args
		want string
	}{
		{args{"query": "needle"}, "a.go:3: func Needle() {}\ndocs/b.md:1: a needle in\ndocs/b.md:2: the hay NEEDLE needle\n"},
		{args{"query": "Needle", "case_sensitive": true}, "a.go:3: func Needle() {}\n"},
		{args{"query": "needle()", "glob": "*.go"}, "a.go:3: func Needle() {}\n"},
		{args{"query": `^the\b.*needle$`, "regexp": true}, "docs/b.md:2: the hay NEEDLE needle\n"},
		{args{"query": "needle", "path": "docs/b.md", "max_results": 5}, "docs/b.md:1: a needle in\ndocs/b.md:2: the hay NEEDLE needle\n"},
		{args{"query": "needle", "path": "node_modules"}, "node_modules/c.go:1: needle\n"},
		{args{"query": "needle", "glob": "node_modules/**", "all": true}, "node_modules/c.go:1: needle\n"},
		{args{"query": "öl"}, "straße.txt:1: Öl und Straße\n"},
		{args{"query": "absent", "glob": "*.md"}, "No match in 1 file."},
	} {
		out, text := call[searchOutput](t, session, "search_files", test.args)
		if text, _, _ = strings.Cut(text, "\nSkipped"); text != test.want {
			t.Errorf("%v: got\n%s\nwant\n%s", test.args, text, test.want)
		}
		if !out.Complete {
			t.Errorf("%v: not complete: %s", test.args, out.Note)
		}
	}
}

func TestSearchLimits(t *testing.T) {
	files := map[string]string{}
	for i := range 20 {
		files[fmt.Sprintf("f%02d", i)] = strings.Repeat("match\n", 10)
	}
	for _, test := range []struct {
		name   string
		limit  func(*limits)
		args   args
		most   int
		inNote string
	}{
		{"results", func(*limits) {}, args{"query": "match", "max_results": 15}, 15, "Stopped at 15 matches"},
		{"file size", func(l *limits) { l.fileBytes = 59 }, args{"query": "match"}, 0, "20 files larger than"},
		{"total size", func(l *limits) { l.totalBytes = 600 }, args{"query": "match", "max_results": 1000}, 100, "Stopped after reading"},
		{"entries", func(l *limits) { l.entries = 5 }, args{"query": "match"}, 50, "Gave up after 5 entries"},
		{"time", func(l *limits) { l.searchTime = -time.Second }, args{"query": "match"}, 0, "Stopped after -1s"},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := tree(t, files)
			test.limit(&f.limits)
			session := connect(t, f, nil)
			out, text := call[searchOutput](t, session, "search_files", test.args)
			if len(out.Matches) != test.most || out.Complete {
				t.Errorf("%d matches, complete is %v", len(out.Matches), out.Complete)
			}
			contains(t, text, test.inNote)
		})
	}
}

func TestSearchAllResultsIsComplete(t *testing.T) {
	session := connect(t, tree(t, map[string]string{"a": "x\nx\n"}), nil)
	out, _ := call[searchOutput](t, session, "search_files", args{"query": "x", "max_results": 2})
	if !out.Complete || len(out.Matches) != 2 {
		t.Errorf("got %+v", out)
	}
}

func TestSearchLongLines(t *testing.T) {
	f := tree(t, map[string]string{
		"wide": strings.Repeat("ä", 1000) + "needle" + strings.Repeat("ö", 1000),
		"huge": strings.Repeat("x", 3*pieceBytes) + "needle" + strings.Repeat("x", pieceBytes),
		"bad":  strings.Repeat("\xff", 500) + "needle",
	})
	session := connect(t, f, nil)
	out, _ := call[searchOutput](t, session, "search_files", args{"query": "needle"})
	if len(out.Matches) != 3 {
		t.Fatalf("found %d", len(out.Matches))
	}
	for _, m := range out.Matches {
		if !strings.HasPrefix(m.Text, "…") && m.Path != "huge" {
			t.Errorf("%s: %q does not show that it was cut", m.Path, m.Text)
		}
		if len(m.Text) > shownLine+2*len("…") {
			t.Errorf("%s: %d bytes shown", m.Path, len(m.Text))
		}
		contains(t, m.Text, "needle")
	}
	contains(t, out.Note, "searched in pieces")
}

func TestSearchReportsProgress(t *testing.T) {
	files := map[string]string{}
	for i := range 2*progressEvery + 10 {
		files[fmt.Sprintf("d%d/f%d", i%7, i)] = "x"
	}
	reports := make(chan *mcp.ProgressNotificationParams, 10)
	session := connect(t, tree(t, files), &mcp.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, req *mcp.ProgressNotificationClientRequest) {
			reports <- req.Params
		},
	})
	params := &mcp.CallToolParams{Name: "search_files", Arguments: args{"query": "y"}}
	params.SetProgressToken("token")
	if _, err := session.CallTool(t.Context(), params); err != nil {
		t.Fatal(err)
	}
	for _, want := range []float64{progressEvery, 2 * progressEvery} {
		report := <-reports
		if report.Progress != want || report.ProgressToken != "token" {
			t.Errorf("got %+v, want progress %v", report, want)
		}
		contains(t, report.Message, "found 0 lines")
	}
}

// endingContext ends after it was looked at a number of times.
type endingContext struct {
	context.Context
	looks atomic.Int32
}

func (c *endingContext) Err() error {
	if c.looks.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

func TestFilesHonourCancellation(t *testing.T) {
	f := tree(t, map[string]string{"a/a": strings.Repeat("x\n", pieceBytes), "b": "x", "c/d/e": "x"})
	defer f.Close()
	req := &mcp.CallToolRequest{Params: &mcp.CallToolParamsRaw{}}
	for looks := range int32(4) {
		for name, run := range map[string]func(context.Context) error{
			"list": func(ctx context.Context) error {
				_, _, err := f.list(ctx, req, listInput{Depth: 9})
				return err
			},
			"read": func(ctx context.Context) error {
				_, _, err := f.read(ctx, req, readInput{Path: "a/a"})
				return err
			},
			"search": func(ctx context.Context) error {
				s := &search{folder: f, most: 1, left: 1 << 20, progress: progressReporter(req)}
				s.pattern, _ = compileQuery(searchInput{Query: "y"})
				return s.run(ctx, &walk{folder: f, depth: maxDepth}, ".")
			},
		} {
			ctx := &endingContext{Context: t.Context()}
			ctx.looks.Store(looks)
			if err := run(ctx); !errors.Is(err, context.Canceled) {
				t.Errorf("%s, after %d looks: %v", name, looks, err)
			}
		}
	}
}
