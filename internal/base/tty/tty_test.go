package tty

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os"
	"strings"
	"testing"

	"github.com/mattn/go-runewidth"
)

func screen(columns string) (*Screen, *bytes.Buffer) {
	var out bytes.Buffer
	return New(&out, strings.NewReader("y\n"), func(name string) string {
		return map[string]string{"COLUMNS": columns}[name]
	}), &out
}

func TestTableFits(t *testing.T) {
	rows := [][]Cell{
		Cells("read_file", "Reads a file and returns what is in it, as text, with line numbers"),
		{{"データを読む", Good}, {"short", Plain}},
	}
	for columns, want := range map[string]string{
		"": `TOOL          WHAT
read_file     Reads a file and returns what is in it, as text, with line numbers
データを読む  short
`,
		"30": `TOOL          WHAT
read_file     Reads a file an…
データを読む  short
`,
		// Nothing is made so narrow that it says nothing, and a name is never cut.
		"20": `TOOL
read_file
データを読む
`,
		"3": `TOOL
read_file
データを読む
`,
	} {
		s, out := screen(columns)
		s.Table([]string{"TOOL", "WHAT"}, rows)
		if got := out.String(); got != want {
			t.Errorf("%q columns:\n%s\nwant\n%s", columns, got, want)
		}
	}
}

func TestWrappedTable(t *testing.T) {
	s, out := screen("30")
	s.WrappedTable([]string{"NAME", "WHAT"}, [][]Cell{Cells("path", "Where the file is that is to be read"), Cells("データ", "")})
	want := `NAME    WHAT
path    Where the file is that
        is to be read
データ
`
	if got := out.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := Wrap("one two", 0); len(got) != 1 || got[0] != "one two" {
		t.Errorf("without a limit: %q", got)
	}
}

func TestClean(t *testing.T) {
	for text, want := range map[string]string{
		"plain":                    "plain",
		"a\x1b[2Jb \x1b[31mred":    "ab red",
		"tab\tand\nline":           "tab\tand\nline",
		"back\rwards\b":            "backwards",
		"hidden\u202eturn\u200b":   "hiddenturn",
		"not \xff utf-8 \x9b31m":   "not  utf-8 31m",
		"\x1b]8;;http://x\x07link": "]8;;http://xlink",
	} {
		if got := Clean(text); got != want {
			t.Errorf("Clean(%q) = %q, want %q", text, got, want)
		}
	}
	if got := CleanLine("a\n b\t\tc "); got != "a b c" {
		t.Errorf("CleanLine = %q", got)
	}
}

func TestCutPainted(t *testing.T) {
	s := &Screen{colour: true}
	text := s.Paint(Good, "ok") + " server " + s.Paint(Faint, "連絡")
	for _, test := range []struct {
		width int
		bare  string
	}{{0, "ok server 連絡"}, {80, "ok server 連絡"}, {14, "ok server 連絡"}, {12, "ok server …"}, {4, "ok …"}, {1, "…"}} {
		got := CutPainted(text, test.width)
		if bare := sequences.ReplaceAllString(got, ""); bare != test.bare {
			t.Errorf("width %d: %q, want %q", test.width, bare, test.bare)
		}
		if strings.Count(got, "\x1b") != 4 {
			t.Errorf("width %d: a style is not ended in %q", test.width, got)
		}
	}
}

func TestLiveWithoutATerminal(t *testing.T) {
	s, out := screen("")
	block := s.Live(2)
	block.Line(0).Show("starting")
	block.Line(1).Done("second is ready")
	block.Line(0).Done("first is ready")
	block.Line(0).Show("late")
	if got, want := out.String(), "second is ready\nfirst is ready\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestLiveOnATerminal(t *testing.T) {
	s, out := screen("")
	block := s.Live(2)
	block.inline = true
	block.Line(0).Show("one")
	block.Line(1).Done("two")
	if got, want := out.String(), "\r\x1b[Kone\n\r\x1b[K\n\x1b[2A\r\x1b[Kone\n\r\x1b[Ktwo\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A reason is cut only while the block may still be drawn over.
func TestLiveIsWholeOnceItIsDone(t *testing.T) {
	s, out := screen("30")
	block := s.Live(2)
	block.inline = true
	block.Line(0).Done("a reason that is longer than the screen")
	if got, want := out.String(), "\r\x1b[Ka reason that is longer than …\n\r\x1b[K\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	out.Reset()
	block.Line(1).Done("two")
	if got, want := out.String(), "\x1b[2A\r\x1b[Ka reason that is longer than\n\x1b[K  the screen\n\r\x1b[Ktwo\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestTableIsWhole(t *testing.T) {
	rows := [][]Cell{Cells("dev/files", strings.Repeat("x", 20))}
	for columns, want := range map[string]bool{"": true, "31": true, "30": false, "10": false} {
		s, _ := screen(columns)
		if got := s.Fits([]string{"SERVER", "ERROR"}, rows); got != want {
			t.Errorf("%s columns: %v, want %v", columns, got, want)
		}
	}
}

func TestNobodyIsAskedWithoutATerminal(t *testing.T) {
	s, out := screen("")
	_, asked := s.Ask(t.Context(), "Name?", "x")
	_, confirmed := s.Confirm(t.Context(), "Sure?", true)
	_, chosen := s.Choose(t.Context(), "Which?", []string{"a"})
	_, secret := s.Secret(t.Context(), "Password?")
	for _, err := range []error{asked, confirmed, chosen, secret} {
		if !errors.Is(err, ErrNobody) {
			t.Errorf("got %v", err)
		}
	}
	s.Bar().Show(1, 2, "half")
	if out.Len() > 0 {
		t.Errorf("it wrote %q", out)
	}
	if got := s.Paint(Bad, "no colour"); got != "no colour" {
		t.Errorf("painted %q", got)
	}
}

func TestLineOfAQuestionThatWasGivenUp(t *testing.T) {
	keyboard, typing, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer keyboard.Close()
	defer typing.Close()
	s := &Screen{Writer: &bytes.Buffer{}, keyboard: keyboard, lines: NewLines(keyboard)}
	given, giveUp := context.WithCancel(t.Context())
	giveUp()
	if _, err := s.Ask(given, "First?", ""); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v", err)
	}
	if _, err := typing.WriteString("one\ntwo\n"); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"one", "two"} {
		if got, err := s.Ask(t.Context(), "Next?", ""); err != nil || got != want {
			t.Errorf("got %q, %v; want %q", got, err, want)
		}
	}
}

func FuzzClean(f *testing.F) {
	f.Add("a\x1b[31mb\u202e", 5)
	f.Fuzz(func(t *testing.T, text string, width int) {
		clean := CleanLine(text)
		if strings.ContainsAny(clean, "\x1b\r\n\a\b\u009b") {
			t.Errorf("%q", clean)
		}
		if cut := Cut(clean, width); width > 0 && runewidth.StringWidth(cut) > width {
			t.Errorf("%q is wider than %d", cut, width)
		}
	})
}

// A name that is cut cannot be typed again.
func TestTableKeepsNames(t *testing.T) {
	s, out := screen("60")
	name := strings.Repeat("n", 30)
	s.Table(nil, [][]Cell{Cells(name, strings.Repeat("d", 60)), Cells("short", "")})
	if !strings.HasPrefix(out.String(), name+"  d") {
		t.Errorf("the name was cut:\n%s", out)
	}
	out.Reset()
	name = strings.Repeat("n", 90)
	s.Table(nil, [][]Cell{Cells(name, strings.Repeat("d", 60))})
	if out.String() != name+"\n" {
		t.Errorf("the name is not alone and whole:\n%s", out)
	}
	out.Reset()
	s.Table([]string{"A", "B", "C", "D"}, [][]Cell{{{"dev/github", Name}, {"ready", Good}, {strings.Repeat("x", 33), Name}, {strings.Repeat("d", 60), Plain}}})
	if want := "A           B      C\ndev/github  ready  " + strings.Repeat("x", 33) + "\n"; out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out, want)
	}
	out.Reset()
	s.WrappedTable([]string{"A", "B", "C"}, [][]Cell{Cells(strings.Repeat("n", 30), strings.Repeat("t", 14), "words that go on and on")})
	if want := "A" + strings.Repeat(" ", 31) + "C\n" + strings.Repeat("n", 30) + "  words that go on and on\n"; out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out, want)
	}
}

func TestEndOfInputInsteadOfAnAnswer(t *testing.T) {
	keyboard, typing, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer keyboard.Close()
	if err := typing.Close(); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	s := &Screen{Writer: &out, keyboard: keyboard, lines: NewLines(keyboard)}
	_, err = s.Choose(t.Context(), "Which?", []string{"a", "b"})
	if !errors.Is(err, io.EOF) || err.Error() == io.EOF.Error() {
		t.Errorf("got %v", err)
	}
}

func TestCleanHidden(t *testing.T) {
	for text, want := range map[string]string{
		"a\x1b[31mb\x1b]0;t\x07c":       "ab]0;tc",
		"a\u009b2Jb\u0085c":             "a2Jbc",
		"a\u202eb\u2066c\u200fd\u200be": "abcde",
		"a\U000e0041\U000e0100\ufe01b":  "ab",
		"a\u3164b\u115fc\ue000d\u2028e": "abcde",
		"line\n\ttab\r":                 "line\n\ttab",
		"größe 工具 \u2764\ufe0f \xff.":   "größe 工具 \u2764\ufe0f .",
	} {
		if got := Clean(text); got != want {
			t.Errorf("Clean(%q) = %q, want %q", text, got, want)
		}
		var out strings.Builder
		if n, err := Cleaned(&out).Write([]byte(text)); n != len(text) || err != nil || out.String() != want {
			t.Errorf("Cleaned(%q) writes %q, %d, %v", text, out.String(), n, err)
		}
	}
}

// What is escaped is the same value.
func TestWriteJSON(t *testing.T) {
	value := map[string]string{"<\u202e\u009b\x7f>": "\x1b[31m \U000e0041 \ue000 \u200d \ufe01 größe 工具 \u2764\ufe0f\n"}
	var out strings.Builder
	if err := WriteJSON(&out, value); err != nil {
		t.Fatal(err)
	}
	const want = "{\n  \"<\\u202e\\u009b\\u007f>\": \"\\u001b[31m \\udb40\\udc41 \\ue000 \\u200d \\ufe01 größe 工具 \u2764\ufe0f\\n\"\n}\n"
	if out.String() != want {
		t.Errorf("%s\nwant %s", out.String(), want)
	}
	var read map[string]string
	if err := json.Unmarshal([]byte(out.String()), &read); err != nil || !maps.Equal(read, value) {
		t.Errorf("%q, %v", read, err)
	}
}
