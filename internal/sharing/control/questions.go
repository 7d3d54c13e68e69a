package control

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/approval"
)

// Question is a call that waits for a person to approve it. Its texts come from clients and tools.
type Question struct {
	ID        string    `json:"id"`
	Tool      string    `json:"tool"`                // TOOLBOX/SERVER/TOOL
	Caller    string    `json:"caller"`              // as a rule of the policy names it
	Client    string    `json:"client,omitempty"`    // the name that the client gave itself
	Arguments string    `json:"arguments,omitempty"` // a line each, secrets masked, long values by their shape
	Rule      string    `json:"rule"`                // which rule asks, and where it stands
	Because   string    `json:"because,omitempty"`   // its reason
	Since     time.Time `json:"since"`
	Deadline  time.Time `json:"deadline"` // then the call is denied
}

// NotWaiting is the error for an answer to a question that is not open.
func NotWaiting(id string) error {
	return &toolbox.Error{
		Code: toolbox.QuestionNotFound, Message: fmt.Sprintf("No call waits for approval as '%s': it was answered, cancelled or denied, or never existed", tty.CleanLine(id)),
		Hint: "See what waits: mcp-workbench approve",
	}
}

// questions writes the questions and, with follow, all of them again after each change.
func questions(w http.ResponseWriter, r *http.Request, subject Subject) {
	if r.URL.Query().Get(followParameter) == "" {
		answer(w, subject.Questions())
		return
	}
	changes, end := subject.WatchQuestions()
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

// answerQuestion passes on the answer of a person.
func answerQuestion(w http.ResponseWriter, r *http.Request, subject Subject) {
	query := r.URL.Query()
	word := query.Get(answerParameter)
	meant, ok := approval.ParseAnswer(word)
	if !ok {
		refuse(w, fmt.Errorf("'%s' is not an answer", word))
		return
	}
	if err := subject.Answer(query.Get(idParameter), meant); err != nil {
		refuse(w, err)
		return
	}
	answer(w, struct{}{})
}

// Questions returns the calls that wait for approval, the oldest first.
func (c *Client) Questions(ctx context.Context) (all []Question, err error) {
	if c.Status.Waiting == 0 {
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

// Answer answers a question. One that is not open is an error with the code QuestionNotFound.
func (c *Client) Answer(ctx context.Context, id string, answer approval.Answer) error {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	body, err := c.send(ctx, http.MethodPost, answerPath, url.Values{idParameter: {id}, answerParameter: {answer.String()}})
	if err != nil {
		return err
	}
	return body.Close()
}
