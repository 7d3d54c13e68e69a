package diff

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// step is one thing that the client does, and what it waits for.
type step struct {
	name   string
	method string
	params string // as they are written; "" for none

	isNote  bool    // a notification: nothing is waited for but notes
	list    string  // the member of the results whose pages are read to the end and joined
	replies []reply // to the questions that come meanwhile
	notes   int     // notifications that come besides progress, in any order
	listens bool    // a request that stays open: only notes are waited for
	ends    string  // the step whose open request is cancelled instead of sending anything
	cancels int     // after so many progress notifications the client cancels; there is no answer
}

// reply is what the client says to a question.
type reply struct {
	method   string // of the question
	body     string // `"result":…` or `"error":…`; "" leaves the question open
	progress string // a notification about the question before the answer, with %s for its token
}

// exchange is what came in during a step.
type exchange struct {
	inOrder []string // progress, questions and answers
	notes   []string // the rest, whose order says nothing
	rounds  int      // how often the request was sent again
}

// client runs steps over a link.
type client struct {
	t         *testing.T
	link      link
	ids       []string          // forms
	step      int               // counts from 1
	questions map[string]int    // number of a question by its id on this hop
	hop       string            // members that the _meta of each request has; "" in the legacy era
	open      map[string]string // ids of requests that stay open, by step
}

// Forms that ids take in turn. Servers that read them and write them anew get plain ones.
var (
	oddIDs   = []string{`%d`, `"id \u00e9 \/ %d"`, `9007199254%06d`, `"%d"`}
	plainIDs = []string{`%d`, `"id %d"`}
)

// nextID depends on the step alone, and not on how many pages there were before it.
func (c *client) nextID(page int) string {
	return fmt.Sprintf(c.ids[c.step%len(c.ids)], 100*c.step+page)
}

// run makes a step. What should come, but does not within the time, is missing in the exchange.
func (c *client) run(s step, patience time.Duration) exchange {
	c.t.Helper()
	var got exchange
	c.step++
	if s.ends != "" {
		c.cancel(c.open[s.ends])
		return got
	}
	params := s.params
	for page := 0; ; page++ {
		answer := c.once(s, c.nextID(page), params, &got, patience)
		cursor := next(answer, s.list)
		if cursor == "" || page == 20 {
			break
		}
		params = `{"cursor":` + cursor + `}`
	}
	slices.Sort(got.notes)
	return got
}

// next is the cursor of the following page, as it was written.
func next(answer *line, list string) string {
	if answer == nil || list == "" {
		return ""
	}
	var page struct {
		Next json.RawMessage `json:"nextCursor"`
	}
	if err := json.Unmarshal(answer.Result, &page); err != nil || string(page.Next) == "null" {
		return ""
	}
	return string(page.Next)
}

// once sends a message and takes what comes until all is there.
func (c *client) once(s step, id, params string, got *exchange, patience time.Duration) (answer *line) {
	c.t.Helper()
	if c.hop != "" {
		params = withMeta(params, c.hop)
	}
	if s.listens {
		c.open[s.name] = id
	}
	members := ""
	if !s.isNote {
		members = `"id":` + id + `,`
	}
	if params != "" {
		members += `"params":` + params + `,`
	}
	c.link.send(`{"jsonrpc":"2.0",` + members + `"method":` + strconv.Quote(s.method) + `}`)
	answered, open := s.isNote || s.listens, len(got.notes)+s.notes
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	for !answered || len(got.notes) < open {
		select {
		case text, ok := <-c.link.received():
			if !ok {
				got.inOrder = append(got.inOrder, "the connection ended")
				return answer
			}
			m, isAnswer := c.take(s, text, id, got)
			if isAnswer && asksForInput(m) {
				id = c.again(s, id, params, m, got)
				continue
			}
			if isAnswer {
				answer, answered = m, true
				deadline.Reset(settle)
			}
			if s.cancels > 0 && len(got.inOrder) == s.cancels && !answered {
				c.cancel(id)
				answered = true
				deadline.Reset(settle)
			}
		case <-deadline.C:
			return answer
		}
	}
	return answer
}

func (c *client) cancel(id string) {
	c.t.Helper()
	c.link.send(fmt.Sprintf(`{"method":"notifications/cancelled","params":{"requestId":%s,"reason":"ch\u0061nged my mind"},"jsonrpc":"2.0"}`, id))
}

// take records a message, and replies if it is a question.
func (c *client) take(s step, text []byte, id string, got *exchange) (m *line, isAnswer bool) {
	c.t.Helper()
	m = &line{}
	if err := json.Unmarshal(text, m); err != nil {
		got.inOrder = append(got.inOrder, "not JSON: "+string(text))
		return m, false
	}
	switch {
	case m.Method == "":
		got.inOrder = append(got.inOrder, answerLines(s, m)...)
		return m, string(m.ID) == id
	case m.ID != nil && m.Method == "ping":
		c.reply(s, m)
	case m.ID != nil && isWorkbenchsOwn(s, m):
		c.reply(step{replies: []reply{{method: m.Method, body: `"result":{"roots":[{"uri":"file:///home"}]}`}}}, m)
	case m.ID != nil:
		c.questions[string(m.ID)] = len(c.questions) + 1
		got.inOrder = append(got.inOrder, "question "+m.Method+" "+hideQuestionToken(m.Params))
		c.reply(s, m)
	case m.Method == "notifications/progress":
		got.inOrder = append(got.inOrder, "note "+m.Method+" "+orNull(m.Params))
	case m.Method == "notifications/cancelled":
		got.inOrder = append(got.inOrder, "note "+m.Method+" "+c.hideQuestion(m.Params))
	case m.Method == "notifications/subscriptions/acknowledged":
		got.notes = append(got.notes, "note "+m.Method+" "+sorted(m.Params))
	case m.Method == "notifications/tools/list_changed" && s.notes == 0:
		// Nobody waits for it.
	default:
		got.notes = append(got.notes, "note "+m.Method+" "+orNull(m.Params))
	}
	return m, false
}

func (c *client) reply(s step, question *line) {
	c.t.Helper()
	body, progress := `"error":{"code":-32601,"message":"not in the script"}`, ""
	for _, r := range s.replies {
		if r.method == question.Method {
			body, progress = r.body, r.progress
		}
	}
	if progress != "" {
		c.link.send(`{"jsonrpc":"2.0","method":"notifications/progress","params":` + fmt.Sprintf(progress, tokenOf(question.Params)) + `}`)
	}
	if body != "" {
		c.link.send(`{` + body + `,"jsonrpc":"2.0","id":` + string(question.ID) + `}`)
	}
}

func tokenOf(params json.RawMessage) string {
	var found struct {
		Meta struct {
			Token json.RawMessage `json:"progressToken"`
		} `json:"_meta"`
	}
	_ = json.Unmarshal(params, &found)
	return orNull(found.Meta.Token)
}

// rest takes what nobody waited for.
func (c *client) rest() []string {
	var left []string
	for {
		select {
		case text, ok := <-c.link.received():
			if !ok {
				return left
			}
			var m line
			if err := json.Unmarshal(text, &m); err != nil || !isWorkbenchsOwn(step{}, &m) {
				left = append(left, string(text))
			}
		default:
			return left
		}
	}
}

// session runs all steps over a link, and closes it.
func session(t *testing.T, l link, ids []string, steps []step, patient func(step) time.Duration) map[string]exchange {
	t.Helper()
	return (&client{t: t, link: l, ids: ids}).runAll(steps, patient)
}

func (c *client) runAll(steps []step, patient func(step) time.Duration) map[string]exchange {
	c.t.Helper()
	defer c.link.close()
	c.questions, c.open = make(map[string]int), make(map[string]string)
	got := make(map[string]exchange, len(steps))
	for _, s := range steps {
		if _, twice := got[s.name]; twice {
			c.t.Fatalf("two steps are named '%s'", s.name)
		}
		got[s.name] = c.run(s, patient(s))
	}
	if left := c.rest(); len(left) > 0 {
		got[unexpected] = exchange{inOrder: left}
	}
	return got
}

// unexpected is the name of a step for what came after all others.
const unexpected = "nothing more comes"

// newest is the revision of the session.
const newest = "2025-11-25"

// describe joins an exchange into lines.
func (e exchange) describe() string {
	return strings.Join(append(slices.Clone(e.inOrder), e.notes...), "\n")
}
