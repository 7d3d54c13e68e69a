//go:build unix

package script

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// This file answers what waits for a person, over the control socket of the workbench, as the page does.

var pageCommands = map[string]struct {
	least int // arguments
	run   func(s *state, args []string) error
}{
	"waits":  {0, (*state).seeQuestion},
	"none":   {0, (*state).seeNoQuestion},
	"answer": {1, (*state).answerAtPage},
}

// page is the script command: page COMMAND [ARGS].
func page(ts *testscript.TestScript, neg bool, args []string) {
	s := ts.Value(stateKey{}).(*state)
	if len(args) == 0 || neg {
		ts.Fatalf("usage: page COMMAND [ARGS]; see README.md")
	}
	command, ok := pageCommands[args[0]]
	if !ok || len(args)-1 < command.least {
		ts.Fatalf("page %s: no such command, or too few arguments", args[0])
	}
	ts.Check(command.run(s, args[1:]))
}

// waiting is a question of a workbench.
type waiting struct {
	socket string
	id     string
	text   string // in JSON
}

// seeQuestion waits until there is a question with these texts in its JSON, in that order.
func (s *state) seeQuestion(texts []string) error {
	return s.untilQuestions(func(all []waiting) error {
		for _, one := range all {
			if holdsInOrder(one.text, texts) {
				s.question = &one
				return nil
			}
		}
		return fmt.Errorf("no question has %q: %v", texts, all)
	})
}

func (s *state) seeNoQuestion([]string) error {
	return s.untilQuestions(func(all []waiting) error {
		if len(all) > 0 {
			return fmt.Errorf("there are questions: %v", all)
		}
		return nil
	})
}

func holdsInOrder(text string, parts []string) bool {
	for _, part := range parts {
		at := strings.Index(text, part)
		if at < 0 {
			return false
		}
		text = text[at+len(part):]
	}
	return true
}

// untilQuestions looks at the questions of all workbenches until they are as wanted.
func (s *state) untilQuestions(check func([]waiting) error) error {
	limit := time.After(replyTime)
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for {
		all, err := s.waitingQuestions()
		if err == nil {
			err = check(all)
		}
		if err == nil {
			return nil
		}
		select {
		case <-again.C:
		case <-limit:
			return err
		}
	}
}

func (s *state) waitingQuestions() (all []waiting, err error) {
	sockets, err := filepath.Glob(filepath.Join(s.variable("XDG_RUNTIME_DIR"), "mcp-workbench", "control-*"))
	for _, socket := range sockets {
		body, err := askControl(socket, http.MethodGet, "/v1/questions", "")
		if err != nil {
			return nil, err
		}
		var found []json.RawMessage
		if err := json.Unmarshal(body, &found); err != nil {
			return nil, err
		}
		for _, one := range found {
			var named struct {
				ID string `json:"id"`
			}
			if err := json.Unmarshal(one, &named); err != nil {
				return nil, err
			}
			all = append(all, waiting{socket, named.ID, string(one)})
		}
	}
	return all, err
}

// variable returns the value that a variable has for the programs of the script.
func (s *state) variable(name string) (value string) {
	for _, one := range s.env {
		if found, ok := strings.CutPrefix(one, name+"="); ok {
			value = found
		}
	}
	return value
}

// answerAtPage answers the question that was seen last: [-via WAY] ANSWER [REFUSAL]. The answer is a word, or the result of an
// elicitation; a refusal is expected with that text.
func (s *state) answerAtPage(args []string) error {
	via := "page"
	if args[0] == "-via" && len(args) > 2 {
		via, args = args[1], args[2:]
	}
	if s.question == nil {
		return errors.New("no question was seen")
	}
	query, sent := url.Values{"id": {s.question.id}, "via": {via}}, ""
	if strings.HasPrefix(args[0], "{") {
		sent = args[0]
	} else {
		query.Set("answer", args[0])
	}
	body, err := askControl(s.question.socket, http.MethodPost, "/v1/answer?"+query.Encode(), sent)
	if err != nil {
		return err
	}
	switch got := strings.TrimSpace(string(body)); {
	case len(args) > 1 && !strings.Contains(got, args[1]):
		return fmt.Errorf("got %s, want %q", got, args[1])
	case len(args) == 1 && got != "{}":
		return fmt.Errorf("it was refused: %s", got)
	}
	return nil
}

// askControl sends a request to a control socket.
func askControl(socket, method, path, body string) ([]byte, error) {
	client := http.Client{Timeout: replyTime, Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", socket)
		},
	}}
	request, err := http.NewRequestWithContext(context.Background(), method, "http://workbench"+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	response, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	return io.ReadAll(response.Body)
}
