package pastcalls

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/mattn/go-runewidth"

	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/observe/history"
)

// screenOf returns a screen of a width; 0: none.
func screenOf(out *bytes.Buffer, width int) *tty.Screen {
	return tty.New(out, nil, func(name string) string {
		if name == "COLUMNS" && width > 0 {
			return fmt.Sprint(width)
		}
		return ""
	})
}

func record() history.Record {
	return history.Record{
		Time: time.Now(), Client: "claude-code", Caller: "stdio", Toolbox: "dev", Server: "github", Method: "tools/call", Tool: "search_issues", Outcome: "ok",
		Took: 1.234, InStart: 1.1, AtServer: .13, InWorkbench: .00004, RequestBytes: 42, ResponseBytes: 123_456, Arguments: "query: string 12 B, repository: string 30 B, page: number",
	}
}

func TestColumnsGiveWay(t *testing.T) {
	for _, test := range []struct {
		width int
		want  string
	}{
		{0, "TIME CLIENT TOOL OUTCOME TOTAL START SERVER PERSON OWN IN OUT MEMORY CPU ARGUMENTS"},
		{200, "TIME CLIENT TOOL OUTCOME TOTAL START SERVER PERSON OWN IN OUT MEMORY CPU ARGUMENTS"},
		{140, "TIME CLIENT TOOL OUTCOME TOTAL START SERVER PERSON OWN IN OUT ARGUMENTS"},
		{115, "TIME CLIENT TOOL OUTCOME TOTAL START SERVER PERSON OWN IN OUT"},
		{80, "TIME CLIENT TOOL OUTCOME TOTAL START SERVER"},
		{72, "TIME CLIENT TOOL OUTCOME TOTAL SERVER"},
		{66, "TIME CLIENT TOOL OUTCOME TOTAL"},
		{50, "TIME TOOL OUTCOME TOTAL"},
		{44, "TIME TOOL OUTCOME"},
		{40, "TOOL OUTCOME"},
		{20, "TOOL"},
	} {
		var out bytes.Buffer
		NewPrinter(screenOf(&out, test.width)).Print(record(), record())
		lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
		if got := strings.Join(strings.Fields(lines[0]), " "); got != test.want {
			t.Errorf("%d columns: %s", test.width, got)
		}
		for _, line := range lines[1:] {
			if !strings.Contains(line, "dev/github/search_issues") || test.width >= 40 && !strings.Contains(line, "dev/github/search_issues  ok") {
				t.Errorf("%d columns: the tool is cut: %s", test.width, line)
			}
			if width := runewidth.StringWidth(line); test.width >= 40 && width > test.width {
				t.Errorf("%d columns: a line has %d: %s", test.width, width, line)
			}
		}
	}
}

// Whose client called is told where clients are those of people, as long as there is room; also if such a call comes later.
func TestCallersHaveAColumn(t *testing.T) {
	of := func(caller string) history.Record {
		r := record()
		r.Caller = caller
		return r
	}
	for _, test := range []struct {
		width int
		want  string
	}{
		{0, "TIME CLIENT CALLER TOOL OUTCOME TOTAL START SERVER PERSON OWN IN OUT MEMORY CPU ARGUMENTS"},
		{80, "TIME CLIENT CALLER TOOL OUTCOME TOTAL"},
		{66, "TIME CALLER TOOL OUTCOME TOTAL"},
		{50, "TIME TOOL OUTCOME TOTAL"},
		{40, "TOOL OUTCOME"},
	} {
		for _, first := range []string{"", "stdio"} {
			var out bytes.Buffer
			printer := NewPrinter(screenOf(&out, test.width))
			if first != "" {
				printer.Print(of(first))
				out.Reset()
			}
			printer.Print(of("person:ada"), of("stdio"), of("token:build-\x1b[2J"))
			lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
			hasCaller := strings.Contains(test.want, "CALLER")
			if got := strings.Join(strings.Fields(lines[0]), " "); (first == "" || hasCaller) && got != test.want {
				t.Errorf("%d columns, after %q: %s", test.width, first, got)
			}
			if strings.Contains(out.String(), " person:ada ") != hasCaller || strings.Contains(out.String(), "\x1b[2J") {
				t.Errorf("%d columns, after %q: %s", test.width, first, &out)
			}
			for _, line := range lines {
				if width := runewidth.StringWidth(line); test.width > 0 && width > test.width {
					t.Errorf("%d columns, after %q: a line has %d: %s", test.width, first, width, line)
				}
			}
		}
	}
}

// A later call may be longer than those that the widths are of: no line is wider than the screen, and a pipe loses nothing.
func TestTableIsContinued(t *testing.T) {
	for _, width := range []int{0, 80, 140, 300} {
		var out bytes.Buffer
		printer := NewPrinter(screenOf(&out, width))
		first := record()
		first.Client = "c"
		printer.Print(first)
		longer := record()
		longer.Client, longer.Tool, longer.Lost = "mcp-workbench-terminal", "search_all_issues", 3
		longer.Arguments = strings.Repeat("a: string 1 B, ", 10) + "end"
		printer.Print(longer)
		printer.Print(first)
		text := out.String()
		for line := range strings.Lines(text) {
			if got := runewidth.StringWidth(strings.TrimSuffix(line, "\n")); width > 0 && got > width {
				t.Errorf("%d columns: a line has %d: %s", width, got, line)
			}
		}
		if !strings.Contains(text, "\n(3 calls are missing here)\n") || !strings.Contains(text, "dev/github/search_all_issues  ok") {
			t.Errorf("%d columns: got %s", width, text)
		}
		if (width == 0 || width == 300) && (strings.Contains(text, "…") || !strings.Contains(text, "  mcp-workbench-terminal  ") || !strings.Contains(text, longer.Arguments)) {
			t.Errorf("%d columns: something is cut: %s", width, text)
		}
		if titles := strings.Count(text, "TIME"); titles != 1 && width != 80 || titles != 2 && width == 80 {
			t.Errorf("%d columns: %d lines with titles: %s", width, titles, text)
		}
	}
}

func TestForeignTextIsCleaned(t *testing.T) {
	var out bytes.Buffer
	bad := record()
	bad.Client, bad.Tool, bad.Arguments = "\x1b[31mred", "a\nb\x1b]0;title\x07", "k\u202e\x1b[2J: null"
	NewPrinter(screenOf(&out, 0)).Print(bad)
	if strings.ContainsAny(out.String(), "\x1b\x07\u202e") || strings.Count(out.String(), "\n") != 2 {
		t.Errorf("got %q", &out)
	}
}

func TestTexts(t *testing.T) {
	for _, test := range []struct{ got, want string }{
		{Subject(&history.Record{Toolbox: "t", Server: "s", Method: "tools/call", Tool: "x"}), "t/s/x"},
		{Subject(&history.Record{Toolbox: "t", Server: "s", Method: "prompts/get", Prompt: "p"}), "t/s: prompts/get p"},
		{Subject(&history.Record{Toolbox: "t", Server: "s", Method: "resources/read"}), "t/s: resources/read"},
		{Subject(&history.Record{Toolbox: "t", Server: "s"}), "t/s: another request"},
		{outcomeOf(&history.Record{Outcome: "ok"}), "ok"},
		{outcomeOf(&history.Record{Outcome: "tool error", ErrorType: "tool_error"}), "tool error"},
		{outcomeOf(&history.Record{Outcome: "JSON-RPC error", ErrorType: "-32602"}), "error -32602"},
		{outcomeOf(&history.Record{Outcome: "failed", ErrorType: "server_ended"}), "failed: server ended"},
		{outcomeOf(&history.Record{Outcome: "failed", ErrorType: "failed"}), "failed"},
		{
			outcomeOf(&history.Record{Outcome: "failed", ErrorType: "memory_limit", Memory: 600 << 20, MemoryLimit: 512 << 20, LimitKey: "limits.memory"}),
			"failed: memory limit (600 MiB of 512 MiB, limits.memory)",
		},
		{outcomeOf(&history.Record{Outcome: "refused", ErrorType: "denied"}), "refused: denied"},
		{outcomeOf(&history.Record{Outcome: "cancelled", ErrorType: "cancelled"}), "cancelled"},
		{clientOf(&history.Record{Caller: "stdio"}), "stdio"},
		{clientOf(&history.Record{Caller: "token:ci"}), ""},
		{callerOf(&history.Record{Caller: "token:ci"}), "token:ci"},
		{callerOf(&history.Record{Caller: "http"}), ""},
		{span(0), "-"},
		{span(.00001), "10µs"},
		{span(.00042), "0.4ms"},
		{span(.0123), "12ms"},
		{span(1.234), "1.2s"},
		{span(42.4), "42s"},
		{span(301.4), "5m1s"},
		{size(9999), "9999 B"},
		{size(123456), "123 kB"},
		{size(12345678), "12 MB"},
		{timeOf(&history.Record{Time: time.Date(2020, 3, 4, 5, 6, 7, 0, time.Local)}), "03-04 05:06:07"},
	} {
		if test.got != test.want {
			t.Errorf("got %q, want %q", test.got, test.want)
		}
	}
}
