//go:build unix

package control

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/approval"
)

func TestQuestions(t *testing.T) {
	s, client, _ := serve(t)
	if all, err := client.Questions(t.Context()); len(all) != 0 || err != nil {
		t.Errorf("nothing waits: %v, %v", all, err)
	}
	since := time.Unix(1, 0).UTC()
	asked := []Question{
		{ID: "abcde", Tool: "dev/s/drop", Caller: "stdio", Client: "c", Arguments: "name: \"x\"\nforce: true", Rule: "rule '*'", Because: "b", Since: since, Deadline: since.Add(time.Minute)},
		{ID: "fghij", Tool: "dev/s/other", Caller: "token:ci", Rule: "default", Since: since, Deadline: since},
	}
	s.mu.Lock()
	s.questions = asked
	s.mu.Unlock()
	if status, err := client.Refresh(t.Context()); err != nil || status.Waiting != 2 {
		t.Errorf("%d wait, %v", status.Waiting, err)
	}
	if all, err := client.Questions(t.Context()); err != nil || !reflect.DeepEqual(all, asked) {
		t.Errorf("got %+v, %v", all, err)
	}
	for _, id := range []string{"", "fghij&answer=once", "fghij "} {
		err := client.Answer(t.Context(), id, approval.Once)
		if known, ok := errors.AsType[*toolbox.Error](err); !ok || known.Code != toolbox.QuestionNotFound || known.Hint == "" {
			t.Errorf("an answer to %q: %v", id, err)
		}
	}
	if err := client.Answer(t.Context(), "abcde", approval.Session); err != nil {
		t.Error(err)
	}
	if got := strings.Join(s.answered, ","); got != "abcde session via terminal" {
		t.Errorf("answered %s", got)
	}
	if _, err := client.send(t.Context(), "POST", answerPath, map[string][]string{idParameter: {"fghij"}, answerParameter: {"yes"}}); err == nil || err.Error() != "'yes' is not an answer" {
		t.Errorf("an unknown answer: %v", err)
	}
}

func TestWatchQuestions(t *testing.T) {
	s, client, _ := serve(t)
	s.mu.Lock()
	s.questions = []Question{{ID: "a"}, {ID: "b"}}
	s.mu.Unlock()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var seen []string
	err := client.WatchQuestions(ctx, func(all []Question) {
		ids := ""
		for _, one := range all {
			ids += one.ID
		}
		seen = append(seen, ids)
		if len(all) == 0 {
			cancel()
			return
		}
		if err := client.Answer(ctx, all[0].ID, approval.No); err != nil {
			t.Error(err)
		}
	})
	if got := strings.Join(seen, ","); !errors.Is(err, context.Canceled) || got != "ab,b," {
		t.Errorf("saw %q, %v", got, err)
	}
	for limit, stop := context.WithTimeout(t.Context(), patience); ; {
		s.mu.Lock()
		left := s.watchers
		s.mu.Unlock()
		if left == 0 {
			stop()
			return
		}
		if limit.Err() != nil {
			t.Fatalf("%d still watch", left)
		}
		time.Sleep(time.Millisecond)
	}
}

// A page says that it is one; a server's question is answered with a result, and only from there.
func TestAnswerFromThePage(t *testing.T) {
	s, client, _ := serve(t)
	s.mu.Lock()
	s.questions = []Question{{ID: "a", Kind: Approval}, {ID: "b", Kind: Elicitation}}
	s.mu.Unlock()
	send := func(query map[string][]string, body string) error {
		t.Helper()
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://workbench"+answerPath+"?"+url.Values(query).Encode(), strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		answered, err := client.http.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer answered.Body.Close()
		var refused refusal
		if err := json.NewDecoder(answered.Body).Decode(&refused); err != nil || refused.Error == "" {
			return err
		}
		return &toolbox.Error{Code: refused.Code, Message: refused.Error, Hint: refused.Hint}
	}
	page := []string{"page"}
	if err := send(map[string][]string{idParameter: {"a"}, answerParameter: {"once"}, viaParameter: page}, ""); err != nil {
		t.Error(err)
	}
	result := `{"action":"accept","content":{}}`
	err := send(map[string][]string{idParameter: {"b"}}, result)
	if known, ok := errors.AsType[*toolbox.Error](err); !ok || known.Code != toolbox.AnswerElsewhere || known.Hint != "Answer it at: mcp-workbench ui" {
		t.Errorf("from a terminal: %v", err)
	}
	if err := send(map[string][]string{idParameter: {"b"}, viaParameter: page}, strings.Repeat(" ", maxElicitationAnswer+1)); err == nil {
		t.Error("an answer without a limit")
	}
	if err := send(map[string][]string{idParameter: {"b"}, viaParameter: page}, result); err != nil {
		t.Error(err)
	}
	if got := strings.Join(s.answered, ","); got != "a once via page,b "+result {
		t.Errorf("answered %s", got)
	}
}

func TestAnswersVia(t *testing.T) {
	for _, test := range []struct {
		via                []string
		isTerminal, isPage bool
	}{
		{nil, true, false}, // an older version
		{[]string{}, false, false},
		{[]string{"terminal", "page"}, true, true},
		{[]string{"page"}, false, true},
	} {
		q := Question{Via: test.via}
		if q.AnswersVia("terminal") != test.isTerminal || q.AnswersVia("page") != test.isPage {
			t.Errorf("%v: %t, %t", test.via, q.AnswersVia("terminal"), q.AnswersVia("page"))
		}
	}
}
