package builtin

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
)

const (
	defaultLines = 2000
	maxLines     = 20_000  // lines of one read; more are refused
	maxOffset    = 1 << 30 // the last line at which a read can start
	sniffBytes   = 8000    // bytes examined to detect binary files, as in git
)

type readInput struct {
	Path   string `json:"path" jsonschema:"File to read, relative to the root folder."`
	Offset int    `json:"offset,omitempty" jsonschema:"First line to read, counted from 1. Default: 1."`
	Limit  int    `json:"limit,omitempty" jsonschema:"Most lines to read, up to 20000. Default: 2000."`
}

type readOutput struct {
	Path       string `json:"path" jsonschema:"Relative to the root folder"`
	Text       string `json:"text" jsonschema:"The lines as they are in the file"`
	FirstLine  int    `json:"first_line" jsonschema:"Number of the first line returned; 0 for an empty file"`
	LastLine   int    `json:"last_line" jsonschema:"Number of the last line returned"`
	TotalLines int    `json:"total_lines,omitempty" jsonschema:"Lines in the whole file; missing if it is too large to count"`
	Size       int64  `json:"size" jsonschema:"Size of the whole file in bytes"`
	NextOffset int    `json:"next_offset,omitempty" jsonschema:"Offset that reads on from here; missing at the end of the file"`
	Note       string `json:"note,omitempty" jsonschema:"What is missing from the text, and how to get it"`
}

func (f *folder) read(ctx context.Context, _ *mcp.CallToolRequest, in readInput) (*mcp.CallToolResult, *readOutput, error) {
	name, err := f.locate(in.Path)
	if err != nil {
		return nil, nil, err
	}
	offset, err := inRange("offset", in.Offset, 1, maxOffset)
	if err != nil {
		return nil, nil, err
	}
	limit, err := inRange("limit", in.Limit, defaultLines, maxLines)
	if err != nil {
		return nil, nil, err
	}
	file, info, err := f.open(name)
	if err != nil {
		return nil, nil, f.explain(name, err)
	}
	defer file.Close()
	if info.IsDir() {
		return nil, nil, refuse("Use list_files for it, or give the path of a file.", "%q is a folder.", name)
	}

	reader := bufio.NewReaderSize(file, 64<<10)
	p := &page{first: offset, limit: limit, room: f.limits.readBytes}
	// The first read returns the error of a failed peek.
	if head, _ := reader.Peek(sniffBytes); isBinary(head) {
		return nil, nil, refuseBinary(name, info.Size())
	}
	if err := p.scan(ctx, reader, f.limits.scanBytes); err != nil {
		return nil, nil, f.explain(name, err)
	}
	if isBinary(p.text) {
		return nil, nil, refuseBinary(name, info.Size())
	}
	if empty := p.ended && p.line == 0; p.last == 0 && (!empty || offset != 1) {
		return nil, nil, p.missed(name, f.limits.scanBytes)
	}
	out := p.output()
	out.Path, out.Size = name, info.Size()
	return answer(out.Text, out.Note), out, nil
}

// isBinary detects binary files by zero bytes. UTF-16 counts as binary, because its lines cannot be returned unchanged.
func isBinary(data []byte) bool { return bytes.IndexByte(data, 0) >= 0 }

func refuseBinary(name string, size int64) error {
	return refuse("read_file reads text only (UTF-8); ask the user for it in another form if you need what it holds.",
		"%q is a binary file of %d bytes.", name, size)
}

// page is a range of lines read from a file.
type page struct {
	first, limit, room int

	line    int  // number of the current line
	inLine  bool // the end of the line has not been read yet
	ended   bool // the end of the file was reached
	text    []byte
	begun   int  // offset of the current line in text
	last    int  // last line added
	full    bool // no more is added
	partial bool // only the beginning of the last line was added
}

// scan reads the page, and continues to the end of the file to count its lines, up to most bytes.
func (p *page) scan(ctx context.Context, r *bufio.Reader, most int64) error {
	for most > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		piece, err := r.ReadSlice('\n')
		most -= int64(len(piece))
		if len(piece) > 0 {
			if !p.inLine {
				p.line++
				p.begun = len(p.text)
			}
			p.inLine = piece[len(piece)-1] != '\n'
			p.addPiece(piece)
		}
		if errors.Is(err, io.EOF) {
			p.ended = true
			return nil
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
	}
	if p.inLine && !p.full && p.last == p.line {
		p.full = true
		p.partial = !p.postpone()
	}
	return nil
}

// addPiece adds a piece of the current line if it belongs to the page. A line that does not fit goes to the next page; only
// a line that fits on no page is cut.
func (p *page) addPiece(piece []byte) {
	if p.full || p.line < p.first {
		return
	}
	if p.line >= p.first+p.limit {
		p.full = true
		return
	}
	if len(p.text)+len(piece) <= p.room {
		p.text = append(p.text, piece...)
		p.last = p.line
		return
	}
	p.full = true
	if p.postpone() {
		return
	}
	p.text = append(p.text, piece[:p.room-len(p.text)]...)
	for end := len(p.text); end > 0 && end > len(p.text)-utf8.UTFMax; end-- {
		if utf8.RuneStart(p.text[end-1]) {
			if !utf8.FullRune(p.text[end-1:]) {
				p.text = p.text[:end-1]
			}
			break
		}
	}
	p.last = p.line
	p.partial = true
}

// postpone leaves the current line to the next page, unless it is the only one.
func (p *page) postpone() bool {
	if p.begun == 0 {
		return false
	}
	p.text = p.text[:p.begun]
	p.last = p.line - 1
	return true
}

// missed returns the error for a page without lines.
func (p *page) missed(name string, scanned int64) error {
	if p.ended {
		return refuse("Give a smaller offset.", "%q has only %s, so nothing is at offset %d.", name, toolbox.Count(p.line, "line", "lines"), p.first)
	}
	return refuse("Use search_files to find text in smaller files, or ask the user to split this one.",
		"Line %d of %q is beyond its first %d bytes, which is as far as read_file goes.", p.first, name, scanned)
}

func (p *page) output() *readOutput {
	out := &readOutput{LastLine: p.last}
	if p.last > 0 {
		out.FirstLine = p.first
	}
	total := "an unknown number"
	if p.ended {
		out.TotalLines = p.line
		total = fmt.Sprint(p.line)
	}
	var empty, more, partial, invalid string
	if p.last == 0 {
		empty = "The file is empty."
	}
	if p.last < p.line || !p.ended {
		out.NextOffset = p.last + 1
		more = fmt.Sprintf("These are lines %d to %d of %s; read on with offset %d.", p.first, p.last, total, out.NextOffset)
	}
	if p.partial {
		partial = fmt.Sprintf("Line %d is too long: only its first %d bytes are here. Use search_files to find text in the rest of it.", p.last, len(p.text))
	}
	if !utf8.Valid(p.text) {
		invalid = "Some bytes are not valid UTF-8 and are shown as \uFFFD."
	}
	out.Text = strings.ToValidUTF8(string(p.text), "\uFFFD")
	out.Note = sentences(empty, more, partial, invalid)
	return out
}
