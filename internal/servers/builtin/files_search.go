package builtin

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
)

const (
	defaultMatches = 100
	maxMatches     = 1000     // matches of one search; a note says that there are more
	maxQuery       = 1000     // characters of a search pattern; a longer one is refused
	shownBefore    = 100      // bytes of a long line shown before the match
	shownLine      = 400      // bytes of a long line shown in total
	pieceBytes     = 64 << 10 // bytes of a long line matched at once
	checkBytes     = 4 << 10  // bytes matched between checks of the time; a complex pattern is slow
	progressEvery  = 100      // files between progress notifications
)

type searchInput struct {
	Query         string `json:"query" jsonschema:"Text to find in a line, or a regular expression if regexp is true."`
	Regexp        bool   `json:"regexp,omitempty" jsonschema:"Take query as a regular expression (RE2 syntax)."`
	CaseSensitive bool   `json:"case_sensitive,omitempty" jsonschema:"Tell upper and lower case apart. Default: false."`
	Path          string `json:"path,omitempty" jsonschema:"Folder or file to search, relative to the root folder. Default: the root folder."`
	Glob          string `json:"glob,omitempty" jsonschema:"Search only files whose name matches, such as *.go or *.{ts,tsx}; with a slash it matches the path below the searched folder, such as src/**/*.md."`
	All           bool   `json:"all,omitempty" jsonschema:"Include .git and node_modules, which are skipped otherwise."`
	MaxResults    int    `json:"max_results,omitempty" jsonschema:"Most lines to return, up to 1000. Default: 100."`
}

type searchOutput struct {
	Matches  []searchMatch `json:"matches" jsonschema:"Lines found, in the order of paths"`
	Files    int           `json:"files_searched" jsonschema:"How many files were searched"`
	Complete bool          `json:"complete" jsonschema:"Whether everything was searched and every match is returned"`
	Note     string        `json:"note,omitempty" jsonschema:"What was not searched or not returned, and how to get it"`
}

type searchMatch struct {
	Path string `json:"path" jsonschema:"Relative to the root folder"`
	Line int    `json:"line" jsonschema:"Line number, counted from 1"`
	Text string `json:"text" jsonschema:"The line; of a long one the part around the match, with … where it was cut"`
}

func (f *folder) search(ctx context.Context, req *mcp.CallToolRequest, in searchInput) (*mcp.CallToolResult, *searchOutput, error) {
	start, err := f.locate(in.Path)
	if err != nil {
		return nil, nil, err
	}
	most, err := inRange("max_results", in.MaxResults, defaultMatches, maxMatches)
	if err != nil {
		return nil, nil, err
	}
	pattern, err := compileQuery(in)
	if err != nil {
		return nil, nil, err
	}
	names, err := parseGlob(in.Glob)
	if err != nil {
		return nil, nil, err
	}
	s := &search{folder: f, pattern: pattern, names: names, most: most, left: f.limits.totalBytes}
	s.progress = progressReporter(req)
	limited, cancel := context.WithTimeoutCause(ctx, f.limits.searchTime, errSearchTime)
	defer cancel()
	w := &walk{folder: f, depth: maxDepth, all: in.All}
	if err := s.run(limited, w, start); err != nil {
		return nil, nil, err
	}
	out := s.output(w)
	return answer(out.String(), out.Note), out, nil
}

func compileQuery(in searchInput) (*regexp.Regexp, error) {
	switch {
	case in.Query == "":
		return nil, refuse("Give the text to find.", "The query is empty.")
	case len(in.Query) > maxQuery:
		return nil, refuse("Use a shorter query.", "The query is %d bytes long, and may be %d.", len(in.Query), maxQuery)
	}
	expr := in.Query
	if !in.Regexp {
		expr = regexp.QuoteMeta(expr)
	}
	if !in.CaseSensitive {
		expr = "(?i)" + expr
	}
	pattern, err := regexp.Compile(expr)
	if err != nil {
		return nil, refuse("Use RE2 syntax (no lookahead, no backreferences), or leave regexp out to find the text itself.",
			"The query is no valid regular expression: %v.", err)
	}
	return pattern, nil
}

// progressReporter returns a function that reports progress to the client, if it asked for that. Errors are ignored.
func progressReporter(req *mcp.CallToolRequest) func(ctx context.Context, files, matches int) {
	token := req.Params.GetProgressToken()
	if token == nil {
		return func(context.Context, int, int) {}
	}
	return func(ctx context.Context, files, matches int) {
		_ = req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
			ProgressToken: token,
			Progress:      float64(files),
			Message:       fmt.Sprintf("searched %s, found %s", toolbox.Count(files, "file", "files"), toolbox.Count(matches, "line", "lines")),
		})
	}
}

var errSearchTime = errors.New("the time for a search is over")

// search is a search in progress.
type search struct {
	folder   *folder
	pattern  *regexp.Regexp
	names    glob
	most     int
	progress func(ctx context.Context, files, matches int)

	buf     bytes.Buffer
	left    int64 // bytes that may still be read
	files   int
	matches []searchMatch

	stopped    string // why the search ended early
	large      int    // files skipped because of their size
	unreadable int
	longLines  bool // some lines were searched in pieces
}

func (s *search) run(ctx context.Context, w *walk, start string) error {
	err := s.searchFrom(ctx, w, start)
	if err == nil || errors.Is(err, errStopWalk) {
		return nil
	}
	if errors.Is(context.Cause(ctx), errSearchTime) {
		s.stopped = fmt.Sprintf("Stopped after %v", s.folder.limits.searchTime)
		return nil
	}
	return s.folder.explain(start, err)
}

func (s *search) searchFrom(ctx context.Context, w *walk, start string) error {
	file, info, err := s.folder.open(start)
	if err != nil {
		return err
	}
	file.Close()
	if !info.IsDir() {
		return s.file(ctx, start)
	}
	w.visit = func(full, below string, entry fs.DirEntry) error {
		if !entry.Type().IsRegular() || !s.names.match(below) {
			return nil
		}
		return s.file(ctx, full)
	}
	return w.run(ctx, start)
}

// file searches one file. It returns only errors that end the whole search.
func (s *search) file(ctx context.Context, name string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	file, info, err := s.folder.open(name)
	if err != nil || info.IsDir() {
		s.unreadable++
		return nil
	}
	defer file.Close()
	if info.Size() > int64(s.folder.limits.fileBytes) {
		s.large++
		return nil
	}
	// A file may grow after its size was read, and files in /proc have no size.
	s.buf.Reset()
	size, err := s.buf.ReadFrom(io.LimitReader(file, int64(s.folder.limits.fileBytes)+1))
	s.left -= size
	switch {
	case err != nil:
		s.unreadable++
		return nil
	case size > int64(s.folder.limits.fileBytes):
		s.large++
		return nil
	case s.left < 0:
		s.stopped = fmt.Sprintf("Stopped after reading %d MiB", s.folder.limits.totalBytes>>20)
		return errStopWalk
	}
	s.files++
	if s.files%progressEvery == 0 {
		s.progress(ctx, s.files, len(s.matches))
	}
	data := s.buf.Bytes()
	if isBinary(data[:min(len(data), sniffBytes)]) {
		return nil
	}
	return s.lines(ctx, name, data)
}

func (s *search) lines(ctx context.Context, name string, data []byte) error {
	unchecked := 0
	for number := 1; len(data) > 0; number++ {
		var line []byte
		line, data, _ = bytes.Cut(data, []byte("\n"))
		line = bytes.TrimSuffix(line, []byte("\r"))
		for first := true; first || len(line) > 0; first = false {
			piece := line[:min(len(line), pieceBytes)]
			line = line[len(piece):]
			s.longLines = s.longLines || len(line) > 0
			if unchecked += len(piece); unchecked >= checkBytes {
				unchecked = 0
				if err := ctx.Err(); err != nil {
					return err
				}
			}
			at := s.pattern.FindIndex(piece)
			if at == nil {
				continue
			}
			if len(s.matches) == s.most {
				s.stopped = fmt.Sprintf("Stopped at %s", toolbox.Count(s.most, "match", "matches"))
				return errStopWalk
			}
			s.matches = append(s.matches, searchMatch{Path: name, Line: number, Text: around(piece, at[0])})
			break // a line is returned once, however often it matches
		}
	}
	return nil
}

// around returns the part of a line around a match.
func around(line []byte, at int) string {
	var before, after string
	if len(line) > shownLine {
		start := max(0, min(at-shownBefore, len(line)-shownLine))
		for start > 0 && start < len(line) && !utf8.RuneStart(line[start]) {
			start++
		}
		if start > 0 {
			before = "…"
		}
		line = line[start:]
	}
	text := strings.ToValidUTF8(string(line), "\uFFFD")
	if len(text) > shownLine {
		text, after = toolbox.Clip(text, shownLine), "…"
	}
	return before + text + after
}

func (s *search) output(w *walk) *searchOutput {
	out := &searchOutput{Matches: s.matches, Files: s.files}
	if out.Matches == nil {
		out.Matches = []searchMatch{}
	}
	var stopped, large, unreadable, long string
	if s.stopped != "" {
		stopped = s.stopped + ", so there may be more; narrow the search with path, glob or another query."
	}
	if s.large > 0 {
		large = fmt.Sprintf("Not searched: %s larger than %d KiB.", toolbox.Count(s.large, "file", "files"), s.folder.limits.fileBytes>>10)
	}
	if s.unreadable > 0 {
		unreadable = toolbox.Count(s.unreadable, "file", "files") + " could not be read."
	}
	if s.longLines {
		long = fmt.Sprintf("Lines longer than %d KiB were searched in pieces, so a match across two may be missing.", pieceBytes>>10)
	}
	out.Note = sentences(stopped, large, unreadable, long, w.note())
	// Bulky folders are left out on purpose, so that they do not count.
	out.Complete = s.stopped == "" && s.large == 0 && s.unreadable == 0 && !s.longLines && !w.exhausted && w.unreadable == 0
	return out
}

func (o *searchOutput) String() string {
	if len(o.Matches) == 0 {
		return fmt.Sprintf("No match in %s.", toolbox.Count(o.Files, "file", "files"))
	}
	var b strings.Builder
	for _, m := range o.Matches {
		fmt.Fprintf(&b, "%s:%d: %s\n", m.Path, m.Line, m.Text)
	}
	return b.String()
}
