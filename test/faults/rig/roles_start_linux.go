package rig

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// startRoles fail before they can be used.
var startRoles = map[string]role{
	"exits-loud": {start: func(*server) {
		fmt.Fprintln(os.Stderr, "the licence has expired")
		os.Exit(7)
	}},
	"exits-silent":     {start: func(*server) { os.Exit(0) }},
	"hangs-initialize": {on: on("initialize", ignore)},
	"never-reads":      {start: func(*server) { forever() }},
	"stops-itself":     {start: func(*server) { stopHere() }},
	"junk":             {start: func(s *server) { repeat(s, bytes.Repeat([]byte("junk, and no JSON\n"), 200)) }},
	"endless-line":     {start: func(s *server) { repeat(s, bytes.Repeat([]byte("x"), 1<<16)) }},
	"initialize-error": {on: on("initialize", func(s *server, m request) { s.fail(m, -32000, "the moon is full") })},
	"crash-initialize": {on: on("initialize", func(*server, request) { os.Exit(9) })},
	"hangs-list":       {on: on("tools/list", ignore)},
	"list-error":       {on: on("tools/list", func(s *server, m request) { s.fail(m, -32000, "the tools are lent out") })},
	"list-no-array":    {on: on("tools/list", func(s *server, m request) { s.answer(m, `{"tools":"many"}`) })},
	"crash-list":       {on: on("tools/list", func(*server, request) { os.Exit(9) })},
	"ancient": {on: on("initialize", func(s *server, m request) {
		s.answer(m, strings.Replace(greeting, "2025-11-25", "1999-01-01", 1))
	})},
	"no-tools": {on: map[string]func(*server, request){
		"initialize": func(s *server, m request) {
			s.answer(m, strings.Replace(greeting, `"tools":{"listChanged":true}`, "", 1))
		},
		"tools/list": func(s *server, m request) { s.fail(m, -32601, "method not found") },
	}},
	"hangs-stubborn": {stubborn: true, on: on("initialize", ignore)},
}

// stopHere stops this process before anything else of it happens. The signal goes to the
// thread that sends it: kill(2) gives it to any thread, and on a busy machine this one then
// goes on until the other has its turn. In 10 of 300 tries that was enough for up to 50 answers,
// and so for a whole handshake; with tgkill(2) in none.
func stopHere() {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := unix.Tgkill(unix.Getpid(), unix.Gettid(), unix.SIGSTOP); err != nil {
		panic(err)
	}
}

func on(method string, handle func(*server, request)) map[string]func(*server, request) {
	return map[string]func(*server, request){method: handle}
}

func ignore(*server, request) {}

// repeat writes without end, for a minute at most, so that a test that fails leaves no fire.
func repeat(s *server, piece []byte) {
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); {
		s.raw(piece)
	}
}

// oddRoles behave strangely, and can be used.
var oddRoles = map[string]role{
	"chatty-start": {start: func(s *server) {
		s.raw([]byte("Starting up...\n42\n\"text\"\nnull\n[1,2]\n{\"level\":\"info\"}\n\n"))
	}},
	"chatty": {write: func(_ *server, line []byte) []byte {
		return append([]byte("[info] about to send {something}\n"), line...)
	}},
	"pieces": {write: func(s *server, line []byte) []byte {
		for len(line) > 1 {
			n := min(7, len(line)-1)
			s.raw(line[:n])
			pause(time.Millisecond)
			line = line[n:]
		}
		return line
	}},
	"crlf": {write: func(_ *server, line []byte) []byte {
		return append(bytes.TrimSuffix(line, []byte("\n")), '\r', '\n')
	}},
	"together": {write: func(_ *server, line []byte) []byte {
		note := `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}`
		return []byte(note + "\n\n\n" + note + "\n" + string(line) + "\n\n" + note + "\n")
	}},
	"slow-5s":  {start: func(*server) { pause(5 * time.Second) }},
	"slow-20s": {start: func(*server) { pause(20 * time.Second) }},
	"loud-stderr": {start: func(*server) {
		piece := append(bytes.Repeat([]byte("e"), 1<<16-1), '\n')
		for range 1024 {
			_, _ = os.Stderr.Write(piece)
		}
	}},
}
