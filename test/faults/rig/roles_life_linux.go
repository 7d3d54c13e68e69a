package rig

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// lifeRoles are hard to end, or have children that are.
var lifeRoles = map[string]role{
	"stubborn":      {stubborn: true},
	"children":      {start: spawnChildren},
	"stubborn-tree": {stubborn: true, start: spawnChildren},
	"child":         {stubborn: true, start: func(*server) { forever() }},
	"slow-stubborn": {stubborn: true, start: func(s *server) {
		spawnChildren(s)
		pause(200 * time.Millisecond)
	}},
}

// spawnChildren starts one child in the server's group and one in a session of its own,
// both of which ignore signals.
func spawnChildren(s *server) {
	for _, detached := range []bool{false, true} {
		child := exec.Command(os.Args[0], ServeArg, "child", os.DevNull)
		child.SysProcAttr = &syscall.SysProcAttr{Setsid: detached}
		if err := child.Start(); err != nil {
			fmt.Fprintln(os.Stderr, "spawning:", err)
			continue
		}
		s.note("spawn %d", child.Process.Pid)
		go func() { _ = child.Wait() }() // it is killed sooner or later
	}
}

// HiddenText ends what the tool "hidden" answers: results pass as they are, whatever they hide.
const HiddenText = "\u202e\u200b\U000e0041\U000e007f"

// tortureRoles misbehave in turn: which fault it is depends on the number of the call.
var tortureRoles = map[string]role{"torture": {calls: map[string]func(*server, request){
	"work": func(s *server, m request) { s.text(m, "work "+string(m.Params.Arguments)) },
	"crash": func(*server, request) {
		os.Exit(9)
	},
	"hang": ignore,
	"flood": func(s *server, m request) {
		for i := range 500 {
			s.progress(m, i)
		}
		s.text(m, "flood "+string(m.Params.Arguments))
	},
	"junk": func(s *server, m request) {
		s.raw(append(bytes.Repeat([]byte("junk {\n"), 1000), 0xff, '\n'))
		s.text(m, "junk "+string(m.Params.Arguments))
	},
	"huge": func(s *server, m request) {
		s.text(m, "huge "+string(m.Params.Arguments)+strings.Repeat("h", 4<<20))
	},
	"close": func(*server, request) {
		_ = os.Stdout.Close()
		forever()
	},
	"hidden": func(s *server, m request) {
		fmt.Fprintln(os.Stderr, "\x1b]0;title\x07\u202ehidden\U000e0041")
		s.text(m, "hidden "+string(m.Params.Arguments)+HiddenText)
	},
	"twins": func(s *server, m request) {
		s.raw(fmt.Appendf(nil, `{"jsonrpc":"2.0","Id":0,"id":%s,"Result":{"content":[]},"Error":{"code":1},"result":{"Content":[],"content":[{"type":"text","Text":"other","text":%s}]}}`+"\n", m.ID, quote("twins "+string(m.Params.Arguments))))
	},
	"slow": func(s *server, m request) {
		pause(300 * time.Millisecond)
		s.text(m, "slow "+string(m.Params.Arguments))
	},
	"changes": func(s *server, m request) {
		for range 500 {
			s.changed()
		}
		s.text(m, "changes "+string(m.Params.Arguments))
	},
}}}
