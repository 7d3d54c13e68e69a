package recording

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/base/secret"
	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/downstream"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/fleet"
	"github.com/mcp-workbench/mcp-workbench/test/mcptest"
)

const fake = `{"tools":[{"name":"echo","inputSchema":{}}],"calls":{"ask":[{"ask":"elicitation/create","with":{}}]}}`

// connect begins a session with a fake server.
func connect(t *testing.T, taps *downstream.TapPoint) *downstream.Session {
	t.Helper()
	server, err := mcptest.Parse([]byte(fake))
	if err != nil {
		t.Fatal(err)
	}
	serverIn, stdin := io.Pipe()
	stdout, serverOut := io.Pipe()
	served := make(chan error, 1)
	go func() {
		served <- server.Serve(serverIn, serverOut)
		serverIn.Close()
		serverOut.Close()
	}()
	session, err := downstream.Connect(t.Context(), downstream.Options{Stdin: stdin, Stdout: stdout, Taps: taps, Opening: downstream.InitializeFirst})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		session.Close()
		<-served
	})
	return session
}

// sink waits for the response to a call.
type sink chan error

func (sink) Progress(wire.Message)            {}
func (sink) Caller() downstream.Caller        { return nil }
func (s sink) Done(_ wire.Message, err error) { s <- err }

func callTool(t *testing.T, session *downstream.Session, name, arguments string) {
	t.Helper()
	done := make(sink, 1)
	if _, err := session.CallTool(downstream.ToolCall{Name: name, Arguments: wire.Raw([]byte(arguments))}, done); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

func newTestBook(t *testing.T) *Book {
	t.Helper()
	b := NewBook(Options{
		Folder: filepath.Join(t.TempDir(), "recordings"), By: "test", Mask: secret.NewMasker([]string{"hunter2-hunter2"}).Mask, Log: slog.New(slog.DiscardHandler),
	})
	t.Cleanup(func() {
		if err := b.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return b
}

func source(taps *downstream.TapPoint) Source {
	return Source{Toolbox: "dev", Server: "s", Taps: taps, Listed: func(*downstream.Session) []fleet.Listed {
		return []fleet.Listed{{Method: "tools/list", Member: "tools", Entries: []wire.Payload{wire.Raw([]byte(`{"name":"echo","inputSchema":{}}`))}}}
	}}
}

func content(t *testing.T, b *Book, name string) string {
	t.Helper()
	file, err := b.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	text, err := io.ReadAll(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

const replayed = `> {"jsonrpc":"2.0","id":"i","method":"initialize","params":{}}
< {"jsonrpc":"2.0","id":"i","result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"fake","version":"1"}}}
> {"jsonrpc":"2.0","id":"l","method":"tools/list"}
< {"jsonrpc":"2.0","id":"l","result":{"tools":[{"name":"echo","inputSchema":{}}]}}
> {"jsonrpc":"2.0","id":"c","method":"tools/call","params":{"name":"echo","arguments":{"key":"another"}}}
< {"jsonrpc":"2.0","id":"c","result":{"content":[{"type":"text","text":"echo {\"key\":\"[hidden]\"}"}]}}`

func TestARunningServerIsRecordedAndReplayed(t *testing.T) {
	for _, begins := range []string{"before", "after"} {
		t.Run("the session began "+begins+" the recording", func(t *testing.T) {
			b, taps := newTestBook(t), &downstream.TapPoint{}
			var session *downstream.Session
			if begins == "before" {
				session = connect(t, taps)
			}
			info, err := b.Start(source(taps), time.Minute)
			if err != nil || !info.Running || !info.Waiting || info.Toolbox != "dev" || info.Server != "s" {
				t.Fatalf("%+v, %v", info, err)
			}
			if begins == "after" {
				session = connect(t, taps)
				if _, _, err := session.ListTools(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			callTool(t, session, "echo", `{"key":"hunter2-hunter2"}`)
			ended, err := b.Stop(t.Context(), info.Name)
			if err != nil || ended.Running || ended.Ended != "stopped" || ended.Messages < 7 {
				t.Errorf("%+v, %v", ended, err)
			}
			text := content(t, b, info.Name)
			if strings.Contains(text, "hunter2") || (begins == "before") != strings.Contains(text, `"known":true`) {
				t.Error(text)
			}
			if status, err := os.Stat(info.Path); err != nil || status.Mode().Perm() != 0o600 {
				t.Errorf("%v, %v", status, err)
			}
			if count, told := play(t, text, replayed, false); count.Unmatched > 0 || told != "" {
				t.Errorf("%+v, %s\n%s", count, told, text)
			}
		})
	}
}

func TestARecordingEndsByItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, taps := newTestBook(t), &downstream.TapPoint{}
		info, err := b.Start(source(taps), time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := b.Start(source(taps), time.Minute); !isCode(err, toolbox.RecordingRunning) {
			t.Errorf("a second recording of the same server: %v", err)
		}
		if _, err := b.Start(source(&downstream.TapPoint{}), 2*time.Hour); err == nil {
			t.Error("a recording may not take two hours")
		}
		<-time.After(time.Minute)
		synctest.Wait()
		found, err := b.Find(info.Name)
		if err != nil || found.Running || found.Ended != "time" || len(b.Running()) > 0 {
			t.Errorf("%+v, %v", found, err)
		}
		if !taps.Attach(&live{}) {
			t.Error("the tap is still attached")
		}
	})
}

func TestTheOtherSessionIsNotMixedIn(t *testing.T) {
	b, taps := newTestBook(t), &downstream.TapPoint{}
	first, second := connect(t, taps), connect(t, taps)
	info, err := b.Start(source(taps), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	callTool(t, first, "echo", `{"n":1}`)
	callTool(t, second, "echo", `{"n":2}`)
	first.Close()
	callTool(t, second, "echo", `{"n":3}`)
	if _, err := b.Stop(t.Context(), info.Name); err != nil {
		t.Fatal(err)
	}
	text := content(t, b, info.Name)
	if strings.Contains(text, `"n":2`) || !strings.Contains(text, `"n":1`) || !strings.Contains(text, `"n":3`) || !strings.Contains(text, `"session":2`) {
		t.Error(text)
	}
	if r, err := Read(strings.NewReader(text)); err != nil || r.Requests() != 6 {
		t.Errorf("%v, %v", r, err)
	}
}

// TestWhatDoesNotFitIsCounted shows that a recorder which cannot write delays nobody, and says what is missing.
func TestWhatDoesNotFitIsCounted(t *testing.T) {
	l := newLive(mask{func(text string) string { return text }}, func(*downstream.Session) []fleet.Listed { return nil })
	session := connect(t, &downstream.TapPoint{})
	l.Sent(session, "initialize", []byte(`{"jsonrpc":"2.0","id":1,"method":"initialize"}`))
	for range maxQueued + 10 {
		l.Received(session, []byte(`{"jsonrpc":"2.0","method":"notifications/x"}`), nil)
	}
	large := bytes.Repeat([]byte("x"), maxLiveMessage+1)
	var out bytes.Buffer
	if err := l.writeQueued(&out); err != nil {
		t.Fatal(err)
	}
	l.Sent(session, "", large)
	l.close()
	if err := l.writeQueued(&out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"lost":12}`, fmt.Sprintf(`"skipped":%d}`, len(large))} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%s is not in the file, which ends with %s", want, out.String()[max(0, out.Len()-300):])
		}
	}
	if err := l.writeLine(&out, &line{Text: strings.Repeat("x", maxFile)}); !errors.Is(err, errFull) {
		t.Errorf("the file has no largest size: %v", err)
	}
}

func TestWhatServersSendStaysReadable(t *testing.T) {
	l := newLive(mask{func(text string) string { return text }}, func(*downstream.Session) []fleet.Listed { return nil })
	session := connect(t, &downstream.TapPoint{})
	l.Sent(session, "initialize", []byte(`{"jsonrpc":"2.0","id":1,"method":"initialize"}`))
	for _, sent := range []string{
		`[{"jsonrpc":"2.0","method":"notifications/a"},{"jsonrpc":"2.0","method":"notifications/b"}]`,
		`{"level":"info"}`, `plain text`, "{\n \"jsonrpc\":\"2.0\",\"method\":\"notifications/c\"}", "\xff\xfe", `[1`,
	} {
		l.Received(session, []byte(sent), nil)
	}
	l.Received(session, []byte(`{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"m"}}`), []byte(`"discover"`))
	file := bytes.NewBufferString(`{"recording":1}` + "\n")
	if err := l.writeQueued(file); err != nil {
		t.Fatal(err)
	}
	r, err := Read(bytes.NewReader(file.Bytes()))
	if err != nil || len(r.entries) != 5 {
		t.Errorf("%d messages, %v\n%s", len(r.entries), err, file)
	}
	if last := r.entries[4].message; string(last.ID.Bytes()) != `"discover"` {
		t.Errorf("the answer without an id has %s", last.ID.Bytes())
	}
}

func isCode(err error, code toolbox.Code) bool {
	known, ok := errors.AsType[*toolbox.Error](err)
	return ok && known.Code == code
}

func TestOnlyRecordingsAreOpened(t *testing.T) {
	b := newTestBook(t)
	folder := b.options.Folder
	if err := os.MkdirAll(filepath.Join(folder, "folder.jsonl"), 0o700); err != nil {
		t.Fatal(err)
	}
	outside := filepath.Join(filepath.Dir(folder), "outside.jsonl")
	for _, path := range []string{outside, filepath.Join(folder, "mine.txt")} {
		if err := os.WriteFile(path, []byte(`{"recording":1}`), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(outside, filepath.Join(folder, "link.jsonl")); err != nil {
		t.Skip(err)
	}
	for _, name := range []string{
		"", ".", "..", "../outside.jsonl", outside, "link.jsonl", "mine.txt", "folder.jsonl", "none.jsonl", "a/b.jsonl", `a\b.jsonl`,
		"-x.jsonl", ".jsonl", "a\x00.jsonl", "C:a.jsonl", strings.Repeat("a", 300) + ".jsonl", "ä.jsonl",
	} {
		if file, err := b.Open(name); !isCode(err, toolbox.RecordingNotFound) {
			t.Errorf("%q: %v, %v", name, file, err)
		}
		if _, err := b.Stop(t.Context(), name); !isCode(err, toolbox.RecordingNotFound) {
			t.Errorf("stop %q: %v", name, err)
		}
	}
	if all, err := b.List(); err != nil || len(all) > 0 {
		t.Errorf("%+v, %v", all, err)
	}
}

func TestTheOldestAreRemoved(t *testing.T) {
	folder := t.TempDir()
	now := time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)
	write := func(number int, until time.Time, size int64) {
		t.Helper()
		file, _, err := create(folder, Header{At: now.Add(-time.Duration(number) * time.Hour), Toolbox: "d/../e", Server: "d/../e/s"})
		if err != nil {
			t.Fatal(err)
		}
		header := Header{At: now.Add(-time.Duration(number) * time.Hour), Toolbox: "d", Server: "d/s", Until: until}
		if _, err := header.write(file); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(file.Truncate(size), file.Close()); err != nil {
			t.Fatal(err)
		}
	}
	for i := range maxFiles + 3 {
		write(i, now.Add(-time.Hour), 1<<10)
	}
	write(1000, now.Add(time.Hour), 1<<10) // another workbench may still write it
	if err := makeRoom(folder, 1, now); err != nil {
		t.Fatal(err)
	}
	all, err := list(folder)
	if err != nil || len(all) != maxFiles-1 || all[len(all)-1].At.After(now.Add(-999*time.Hour)) || all[0].At != now {
		t.Errorf("%d are left, %v", len(all), err)
	}
	write(2000, now.Add(-time.Hour), maxKept)
	if err := makeRoom(folder, 1, now); err != nil {
		t.Fatal(err)
	}
	if all, _ := list(folder); len(all) != maxFiles-1 {
		t.Errorf("%d are left after a large one", len(all))
	}
}

func TestAllEndWithTheWorkbench(t *testing.T) {
	b := newTestBook(t)
	var infos []Info
	for i := range maxRunning {
		s := source(&downstream.TapPoint{})
		s.Server = fmt.Sprint("s", i)
		info, err := b.Start(s, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		infos = append(infos, info)
	}
	s := source(&downstream.TapPoint{})
	if _, err := b.Start(s, time.Hour); !isCode(err, toolbox.RecordingRunning) {
		t.Errorf("one too many: %v", err)
	}
	if err := b.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, info := range infos {
		if ended, err := b.Find(info.Name); err != nil || ended.Ended != "shutdown" {
			t.Errorf("%+v, %v", ended, err)
		}
	}
	if _, err := b.Start(s, time.Hour); err == nil {
		t.Error("a recording began after the end")
	}
}

// The folder may have many files. Whoever asks what runs does not wait until they are read, and a workbench that ends
// meanwhile begins no recording.
func TestLookingForRoomHoldsUpNobody(t *testing.T) {
	b := newTestBook(t)
	room := b.makeRoom
	b.makeRoom = func(folder string, running int, now time.Time) error {
		if all := b.Running(); len(all) != running-1 {
			t.Errorf("%d run", len(all))
		}
		return room(folder, running, now)
	}
	if _, err := b.Start(source(&downstream.TapPoint{}), time.Hour); err != nil {
		t.Fatal(err)
	}
	b.makeRoom = func(string, int, time.Time) error { return b.Close(t.Context()) }
	other := source(&downstream.TapPoint{})
	other.Server = "other"
	if _, err := b.Start(other, time.Hour); err == nil || len(b.Running()) > 0 {
		t.Errorf("%v, and %d run after the end", err, len(b.Running()))
	}
}
