package overview

import (
	"bytes"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mattn/go-runewidth"

	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/observe/meter"
	"github.com/mcp-workbench/mcp-workbench/internal/sharing/control"
)

func TestErrorsAreReadableOnNarrowScreens(t *testing.T) {
	trouble := "the server exited with code 3, after it had complained about the lack of a folder that it needs"
	seen := []control.Workbench{{
		Servers: []control.Server{
			{Toolbox: "starter", Name: "files", State: "ready", PID: 1234567, Memory: 123e6, Uptime: 250, Starts: 1},
			{Toolbox: "starter", Name: "notes", State: "backing off", LastError: trouble, NextTry: 5, Failures: 3},
		},
		Activity: []meter.Server{{Toolbox: "starter", Server: "files", Counts: meter.Counts{Calls: 12, Errors: 1, P50: 0.0012, P95: 0.25, TotalCalls: 40}}},
	}}
	for _, test := range []struct {
		columns string
		want    []string
	}{
		{"", []string{"files  ready        1234567  123 MB  4m10s  1.2ms  250ms  12     1       1       0%", "0              0       -    failed 3 times, next try in 5s: " + trouble}},
		{"80", []string{"1.2ms  250ms  12     1\n", "✗  starter/notes: failed 3 times, next try in 5s: the", "folder that it needs\n"}},
		{"140", []string{"1.2ms  250ms  12     1       1       0%\n", "\n✗  starter/notes: failed 3 times, next try in 5s: the", " needs\n"}},
		{"240", []string{"STARTS  CPU  LAST ERROR\n", "next try in 5s: " + trouble}},
	} {
		var page bytes.Buffer
		Show(tty.New(&page, nil, func(string) string { return test.columns }), seen, Options{})
		for _, want := range test.want {
			if !strings.Contains(page.String(), want) {
				t.Errorf("COLUMNS=%s: there is no %q in\n%s", test.columns, want, page.String())
			}
		}
		for line := range strings.Lines(page.String()) {
			if limit, _ := strconv.Atoi(test.columns); test.columns != "" && runewidth.StringWidth(strings.TrimSpace(line)) > limit {
				t.Errorf("too wide: %s", line)
			}
		}
	}
}

func TestCallsThatWait(t *testing.T) {
	for waiting, want := range map[int]string{0: "", 1: "! 1 call waits for approval: mcp-workbench approve\n", 2: "! 2 calls wait for approval: mcp-workbench approve\n"} {
		var page bytes.Buffer
		Show(tty.New(&page, nil, func(string) string { return "" }), []control.Workbench{{Waiting: waiting}}, Options{})
		if !strings.Contains(page.String(), want) || strings.Contains(page.String(), "approval") != (want != "") {
			t.Errorf("%d wait:\n%s", waiting, page.String())
		}
	}
}

func TestWorkbenchesOfOtherVersions(t *testing.T) {
	var page bytes.Buffer
	Show(tty.New(&page, nil, func(string) string { return "" }), []control.Workbench{{Version: "1.0.0"}, {Version: "2.0.0"}}, Options{Version: "2.0.0"})
	if text := page.String(); strings.Count(text, "! It is of another version than this program, which is 2.0.0") != 1 || strings.Index(text, "! It is") > strings.Index(text, "mcp-workbench 2.0.0") {
		t.Errorf("not the older one alone is marked:\n%s", text)
	}
}

func TestLatency(t *testing.T) {
	for seconds, want := range map[float64]string{0: "-", 0.00005: "0.1ms", 0.0094: "9.4ms", 0.12: "120ms", 1.25: "1.2s", 42: "42s", 90: "1m30s"} {
		if got := Latency(seconds); got != want {
			t.Errorf("%v s are %s, want %s", seconds, got, want)
		}
	}
}

func TestClientsAndConfiguration(t *testing.T) {
	now := time.Now()
	for _, test := range []struct {
		name       string
		workbench  control.Workbench
		want       []string
		dontAppear string
	}{
		{
			"a client elsewhere",
			control.Workbench{Folder: "/here", Clients: []control.ConnectedClient{{Name: "Claude Code", Version: "2.1", Folder: "/there", Since: now.Add(-time.Minute)}}},
			[]string{"client Claude Code 2.1, in /there, for 1m00s\n"},
			"no client",
		},
		{"the folder is said once", control.Workbench{Folder: "/here", Clients: []control.ConnectedClient{{Folder: "/here", Since: now}}}, []string{"client unnamed, for 1s\n"}, "in /here, for"},
		{"a token", control.Workbench{Clients: []control.ConnectedClient{{Name: "c", Token: "laptop", Since: now}}}, []string{"client c, token laptop, for 1s\n"}, ""},
		{
			"hostile",
			control.Workbench{Clients: []control.ConnectedClient{{Name: strings.Repeat("n", 5000) + "\n\x1b[2J", Version: "\x1b]0;title\x07" + strings.Repeat("v", 5000), Folder: "/a\nb\x1b[31m", Since: now}}},
			[]string{"client " + strings.Repeat("n", 39) + "… "},
			"\x1b",
		},
		{"a name of nothing", control.Workbench{Clients: []control.ConnectedClient{{Name: "\x1b \n", Since: now}}}, []string{"client unnamed, for 1s\n"}, ""},
		{"many", control.Workbench{Clients: make([]control.ConnectedClient, 20)}, []string{"and 12 more clients\n"}, ""},
		{"as the file", control.Workbench{Config: "/c.json", Loaded: now.Add(-90 * time.Second)}, []string{"configuration read 1m30s ago\n", "no client is connected"}, "✗"},
		{
			"with mistakes",
			control.Workbench{Config: "/c.json", Loaded: now.Add(-90 * time.Second), Problem: "/c.json:3:4: no"},
			[]string{"✗ The configuration has mistakes and was not reloaded; what was read 1m30s ago stays in use: /c.json:3:4: no\n"},
			"configuration read",
		},
	} {
		var page bytes.Buffer
		Show(tty.New(&page, nil, func(string) string { return "" }), []control.Workbench{test.workbench}, Options{})
		for _, want := range test.want {
			if !strings.Contains(page.String(), want) {
				t.Errorf("%s: there is no %q in\n%s", test.name, want, page.String())
			}
		}
		if test.dontAppear != "" && strings.Contains(page.String(), test.dontAppear) {
			t.Errorf("%s: %q is in\n%s", test.name, test.dontAppear, page.String())
		}
	}
}

func TestWhatWaitsNamesWhereItIsAnswered(t *testing.T) {
	for _, test := range []struct {
		workbench control.Workbench
		want      string
	}{
		{control.Workbench{Waiting: 1, WaitingPage: 1}, "! 1 call waits for approval: mcp-workbench ui\n"},
		{control.Workbench{Waiting: 3, WaitingPage: 2}, "! 1 call waits for approval: mcp-workbench approve\n! 2 calls wait for approval: mcp-workbench ui\n"},
		{control.Workbench{Waiting: 1, Asked: 2}, "! 2 questions of servers wait for an answer: mcp-workbench ui\n! 1 call waits for approval: mcp-workbench approve\n"},
	} {
		var page bytes.Buffer
		Show(tty.New(&page, nil, func(string) string { return "" }), []control.Workbench{test.workbench}, Options{})
		if !strings.Contains(page.String(), test.want) || strings.Count(page.String(), "!") != strings.Count(test.want, "!") {
			t.Errorf("want %q in\n%s", test.want, page.String())
		}
	}
}
