package control

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/approval"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// The kinds of questions.
const (
	Approval    = "approval"    // the policy asks whether a call may be made
	Elicitation = "elicitation" // a server asks, and the client of its call cannot be asked
)

// Question is what waits for a person: a call to be approved, or a question of a server. Its texts come from clients, tools and
// servers.
type Question struct {
	ID     string `json:"id"`
	Kind   string `json:"kind"`   // Approval or Elicitation
	Tool   string `json:"tool"`   // TOOLBOX/SERVER/TOOL; of an elicitation as far as it is known, and "" without
	Server string `json:"server"` // TOOLBOX/SERVER
	// Via is where it may be answered: "terminal" and "page", in the order of the policy.
	Via      []string  `json:"via"`
	Caller   string    `json:"caller"`           // as a rule of the policy names it
	Client   string    `json:"client,omitempty"` // the name that the client gave itself
	Since    time.Time `json:"since"`
	Deadline time.Time `json:"deadline"` // then the call is denied, or the question refused

	// Of an approval:
	Arguments string `json:"arguments,omitempty"` // a line each, secrets masked, long values by their shape
	Rule      string `json:"rule,omitempty"`      // which rule asks, and where it stands
	Because   string `json:"because,omitempty"`   // its reason

	// Of an elicitation, with secrets masked:
	Message string          `json:"message,omitempty"`
	Schema  json.RawMessage `json:"schema,omitempty"` // of the form; nil if a page is to be opened
	URL     string          `json:"url,omitempty"`    // the page to open, by the person; "" for a form
}

// AnswersVia reports whether a question may be answered by a way. Workbenches of older versions do not say: there it is the terminal.
func (q Question) AnswersVia(via string) bool {
	return slices.Contains(q.Via, via) || q.Via == nil && via == config.AskTerminal
}

// NotWaiting is the error for an answer to a question that is not open.
func NotWaiting(id string) error {
	return &toolbox.Error{
		Code: toolbox.QuestionNotFound, Message: fmt.Sprintf("No call waits for approval as '%s': it was answered, cancelled or denied, or never existed", tty.CleanLine(id)),
		Hint: "See what waits: mcp-workbench approve",
	}
}

// NoElicitation is the error for an answer to a question of a server that is not open.
func NoElicitation(id string) error {
	return &toolbox.Error{
		Code: toolbox.QuestionNotFound, Message: fmt.Sprintf("No question waits as '%s': it was answered or withdrawn, its call ended, or it never existed", tty.CleanLine(id)),
		Hint: "See what waits: mcp-workbench approve --json",
	}
}

// WrongWay is the error for an answer that came by another way than those by which the question may be answered.
func WrongWay(id string, ways []string) error {
	hint := "Answer it at: mcp-workbench ui"
	if slices.Contains(ways, config.AskTerminal) {
		hint = "Answer it with: mcp-workbench approve " + tty.CleanLine(id)
	}
	return &toolbox.Error{
		Code: toolbox.AnswerElsewhere, Message: fmt.Sprintf("'%s' cannot be answered here, only via %s", tty.CleanLine(id), strings.Join(ways, " and ")), Hint: hint,
	}
}

// questions writes the questions and, with follow, all of them again after each change.
func questions(w http.ResponseWriter, r *http.Request, subject Subject) {
	if r.URL.Query().Get(followParameter) == "" {
		answer(w, subject.Questions())
		return
	}
	changes, end := subject.WatchQuestions(wayOf(r.URL.Query()))
	defer end()
	w.Header().Set("Content-Type", "application/x-ndjson")
	out, encoder := http.NewResponseController(w), json.NewEncoder(w)
	for {
		_ = out.SetWriteDeadline(time.Now().Add(writeTime))
		if encoder.Encode(subject.Questions()) != nil || out.Flush() != nil {
			return
		}
		select {
		case <-changes:
		case <-r.Context().Done():
			return
		}
	}
}

// wayOf returns by which way a person answers: the terminal, unless the request says otherwise.
func wayOf(query url.Values) string { return cmp.Or(query.Get(viaParameter), config.AskTerminal) }

// maxElicitationAnswer limits the body of an answer to a question of a server, in bytes.
const maxElicitationAnswer = 1 << 20

// answerQuestion passes on the answer of a person: a word about a call, or the result of an elicitation.
func answerQuestion(w http.ResponseWriter, r *http.Request, subject Subject) {
	query := r.URL.Query()
	if !query.Has(answerParameter) {
		answerElicitation(w, r, subject)
		return
	}
	word := query.Get(answerParameter)
	meant, ok := approval.ParseAnswer(word)
	if !ok {
		refuse(w, fmt.Errorf("'%s' is not an answer", word))
		return
	}
	if err := subject.Answer(query.Get(idParameter), meant, wayOf(query)); err != nil {
		refuse(w, err)
		return
	}
	answer(w, struct{}{})
}

func answerElicitation(w http.ResponseWriter, r *http.Request, subject Subject) {
	query := r.URL.Query()
	if wayOf(query) != config.AskPage {
		refuse(w, WrongWay(query.Get(idParameter), []string{config.AskPage}))
		return
	}
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(answerTime))
	result, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxElicitationAnswer))
	if err == nil {
		err = subject.AnswerElicitation(query.Get(idParameter), result)
	}
	if err != nil {
		refuse(w, err)
		return
	}
	answer(w, struct{}{})
}

// Questions returns what waits for a person, the oldest first.
func (c *Client) Questions(ctx context.Context) (all []Question, err error) {
	if c.Status.Waiting+c.Status.Asked == 0 {
		return nil, nil // older versions do not know the request
	}
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	body, err := c.send(ctx, http.MethodGet, questionsPath, nil)
	if err != nil {
		return nil, err
	}
	defer body.Close()
	return all, json.NewDecoder(io.LimitReader(body, maxAnswer)).Decode(&all)
}

// WatchQuestions passes on all questions now and after each change, until the context or the workbench ends.
func (c *Client) WatchQuestions(ctx context.Context, handle func([]Question)) error {
	body, err := c.send(ctx, http.MethodGet, questionsPath, url.Values{followParameter: {"1"}})
	if err != nil {
		return err
	}
	defer body.Close()
	lines := bufio.NewScanner(body)
	lines.Buffer(nil, maxAnswer)
	for lines.Scan() {
		var all []Question
		if err := json.Unmarshal(lines.Bytes(), &all); err != nil {
			return err
		}
		handle(all)
	}
	return lines.Err()
}

// Answer answers a question about a call from a terminal. One that is not open is an error with the code QuestionNotFound.
func (c *Client) Answer(ctx context.Context, id string, answer approval.Answer) error {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	body, err := c.send(ctx, http.MethodPost, answerPath, url.Values{idParameter: {id}, answerParameter: {answer.String()}, viaParameter: {config.AskTerminal}})
	if err != nil {
		return err
	}
	return body.Close()
}
