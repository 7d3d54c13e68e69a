package app

import (
	"encoding/json"
	"errors"
	"slices"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/approval"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/elicitation"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/internal/sharing/control"
)

// This file has people answer what waits for them.

// Questions implements control.Subject.
func (i Inspector) Questions() []control.Question {
	all := []control.Question{}
	for _, one := range i.App.desk.Waiting() {
		server := one.Ref.Toolbox + "/" + one.Ref.Server
		all = append(all, control.Question{
			ID: one.ID, Kind: control.Approval, Tool: server + "/" + one.Ref.Name, Server: server, Via: one.Via, Caller: one.Caller, Client: one.Client,
			Arguments: one.Shown, Rule: one.Rule, Because: one.Because, Since: one.Since, Deadline: one.Deadline,
		})
	}
	for _, one := range i.App.people.Waiting() {
		question := control.Question{
			ID: one.ID, Kind: control.Elicitation, Server: one.About.Toolbox + "/" + one.About.Server, Via: []string{config.AskPage}, Caller: one.Caller, Client: one.Client,
			Message: one.Message, Schema: one.Schema, URL: one.URL, Since: one.Since, Deadline: one.Deadline,
		}
		if one.About.Name != "" {
			question.Tool = question.Server + "/" + one.About.Name
		}
		all = append(all, question)
	}
	slices.SortStableFunc(all, func(a, b control.Question) int { return a.Since.Compare(b.Since) })
	return all
}

// WatchQuestions implements control.Subject.
func (i Inspector) WatchQuestions(via string) (changes <-chan struct{}, end func()) {
	return i.App.desk.Subscribe(via)
}

// Answer implements control.Subject.
func (i Inspector) Answer(id string, answer approval.Answer, via string) error {
	err := i.App.desk.Answer(id, answer, via)
	elsewhere, isElsewhere := errors.AsType[*approval.NotViaError](err)
	switch {
	case isElsewhere:
		return control.WrongWay(id, elsewhere.Via)
	case errors.Is(err, approval.ErrNotWaiting) && i.App.people.Has(id):
		return control.WrongWay(id, []string{config.AskPage})
	case errors.Is(err, approval.ErrNotWaiting):
		return control.NotWaiting(id)
	}
	return err
}

// AnswerElicitation implements control.Subject.
func (i Inspector) AnswerElicitation(id string, result json.RawMessage) error {
	err := i.App.people.Answer(id, result)
	wrong, isWrong := errors.AsType[*elicitation.WrongAnswerError](err)
	switch {
	case isWrong:
		return &toolbox.Error{Code: toolbox.WrongAnswer, Message: wrong.Problem, Hint: "The question still waits: correct the answer, decline or cancel"}
	case errors.Is(err, elicitation.ErrNotWaiting):
		return control.NoElicitation(id)
	}
	return err
}
