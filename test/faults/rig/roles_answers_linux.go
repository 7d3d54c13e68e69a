package rig

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"time"
)

// Odd is a result with everything in it that a careless relay would change.
const Odd = `{"content":[{"type":"text","text":"nul \u0000 line \u2028 slash \/ ` + "\u2029" + ` é 漢 \ud83d\ude00","x":1},` +
	`{"type":"image","data":"aGk=","mimeType":"image/png"},{"type":"audio","data":"aGk=","mimeType":"audio/wav"},` +
	`{"type":"resource_link","uri":"file:///x","name":"x"},{"type":"resource","resource":{"uri":"file:///x","text":"t"}},` +
	`{"type":"hologram","data":[1, 2]}],"structuredContent":{"b":9007199254740993,"a":123456789012345678901234567890,` +
	`"f":1.10,"e":1E+2},"unknown":{"z":null, "y":[]},"_meta":{"vendor/x":{"k":true}}}`

// answerRoles spoil the answer to a call, and work again afterwards.
var answerRoles = map[string]role{"answers": {calls: map[string]func(*server, request){
	"unknown-id": func(s *server, _ request) {
		s.line(`{"jsonrpc":"2.0","id":987654,"result":{"content":[]}}`)
	},
	"strays": func(s *server, m request) {
		for _, id := range []string{"987654", `"x"`, "null", "-1", "1.5"} {
			s.line(`{"jsonrpc":"2.0","id":` + id + `,"result":{"content":[{"type":"text","text":"wrong"}]}}`)
		}
		s.line(`{"jsonrpc":"2.0","result":{}}`)
		s.text(m, "right")
	},
	"thrice": func(s *server, m request) {
		for range 3 {
			s.text(m, "once")
		}
	},
	"deep": func(s *server, m request) {
		s.answer(m, `{"content":[],"x":`+strings.Repeat("[", 100000)+strings.Repeat("]", 100000)+`}`)
	},
	"half": func(s *server, m request) {
		s.raw([]byte(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"result":{"content":[{"type":"te`))
		os.Exit(3)
	},
	"not-utf8": func(s *server, m request) {
		s.raw([]byte(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"result":{"content":[{"type":"text","text":"` + "\xff\xfe\xc3\x28" + `"}]}}` + "\n"))
	},
	"huge-error": func(s *server, m request) { s.fail(m, -32000, "huge "+strings.Repeat("e", 8<<20)) },
	"50MiB":      func(s *server, m request) { s.text(m, strings.Repeat("a", 50<<20)) },
	"endless": func(s *server, m request) {
		s.mu.Lock() // nobody else gets a word in
		defer s.mu.Unlock()
		_, _ = os.Stdout.WriteString(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"result":{"content":[{"type":"text","text":"`)
		piece := bytes.Repeat([]byte("a"), 1<<16)
		for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); {
			if _, err := os.Stdout.Write(piece); err != nil {
				os.Exit(1)
			}
		}
	},
	"5MB":       func(s *server, m request) { s.text(m, strings.Repeat("five\n", 1000000)) },
	"odd":       func(s *server, m request) { s.answer(m, Odd) },
	"rpc-error": func(s *server, m request) { s.fail(m, -32050, "the wheel came off") },
	"is-error": func(s *server, m request) {
		s.answer(m, `{"content":[{"type":"text","text":"the road is closed"}],"isError":true}`)
	},
}}}

// callRoles do something to calls.
var callRoles = map[string]role{
	"calls": {calls: map[string]func(*server, request){
		"hang":  ignore,
		"crash": func(*server, request) { os.Exit(9) },
		"close-stdout": func(*server, request) {
			_ = os.Stdout.Close()
			forever()
		},
		"long": func(s *server, m request) { // several times the call timeout, with signs of life
			for i := range 10 {
				pause(500 * time.Millisecond)
				s.progress(m, i)
			}
			s.text(m, "long done")
		},
		"silent-45s": func(s *server, m request) {
			pause(45 * time.Second)
			s.text(m, "honest")
		},
		"one-second": func(s *server, m request) {
			s.note("one-second began")
			pause(time.Second)
			s.text(m, "one second later")
		},
		"late": func(s *server, m request) { // answers once it was cancelled
			s.note("late began %s", m.ID)
			s.note("cancelled %s", <-s.cancels)
			s.text(m, "too late")
			s.note("late answered")
		},
		"gather": func(s *server, m request) { // a hundred calls, answered backwards
			s.mu.Lock()
			s.waiting = append(s.waiting, m)
			all := s.waiting
			s.mu.Unlock()
			if len(all) == 100 {
				for i := range all {
					last := all[len(all)-1-i]
					s.text(last, "gather "+string(last.Params.Arguments))
				}
			}
		},
		"pings": func(s *server, m request) {
			for i := range 1000 {
				s.ask(fmt.Sprint("ping-", i), "ping", "{}")
			}
			got := 0
			for range 1000 {
				if a := <-s.answers; a.Result != nil {
					got++
				}
			}
			s.text(m, fmt.Sprint(got, " pings"))
		},
		"asks": func(s *server, m request) {
			refused := 0
			for _, method := range []string{"roots/list", "sampling/createMessage", "elicitation/create"} {
				s.ask(method, method, `{"messages":[],"maxTokens":1,"message":"?","requestedSchema":{"type":"object","properties":{}}}`)
				if a := <-s.answers; a.Error != nil {
					refused++
				}
			}
			s.text(m, fmt.Sprint(refused, " refused"))
		},
		"MiB": func(s *server, m request) { s.text(m, strings.Repeat("m", 1<<20)) },
		"env": func(s *server, m request) { s.text(m, strings.Join(os.Environ(), "\n")) },
		"tell": func(s *server, m request) { // what it is told, it says in every way
			secret := os.Getenv("TOKEN")
			fmt.Fprintln(os.Stderr, "stderr says", secret)
			s.fail(m, -32000, "the error says "+secret)
		},
	}},
	"tells-and-dies": {start: func(*server) {
		fmt.Fprintln(os.Stderr, "dying with", os.Getenv("TOKEN"))
		os.Exit(1)
	}},
}
