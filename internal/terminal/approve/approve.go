// Package approve shows a person at a terminal the calls that wait for approval, and passes on the answers. What can be answered
// on the page only is just named.
package approve

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/internal/sharing/control"
)

// Waiting is a call that waits for approval in a running workbench.
type Waiting struct {
	PID int `json:"pid"` // of the workbench
	control.Question

	workbench *control.Client
}

// List returns the calls and questions that wait in workbenches, the oldest first. Workbenches that do not answer are reported in the error;
// the calls of the others are returned anyway.
func List(ctx context.Context, found []*control.Client) ([]Waiting, error) {
	all := []Waiting{}
	var problems error
	for _, workbench := range found {
		questions, err := workbench.Questions(ctx)
		if err != nil {
			problems = errors.Join(problems, fmt.Errorf("the workbench with process id %d does not answer: %w", workbench.Status.PID, err))
		}
		all = append(all, waitingIn(workbench, questions)...)
	}
	slices.SortStableFunc(all, byAge)
	return all, problems
}

func waitingIn(workbench *control.Client, questions []control.Question) []Waiting {
	all := make([]Waiting, len(questions))
	for i, question := range questions {
		all[i] = Waiting{workbench.Status.PID, question, workbench}
	}
	return all
}

// In returns a call that waits in a workbench.
func In(workbench control.Workbench, question control.Question) Waiting {
	return Waiting{workbench.PID, question, &control.Client{Status: workbench}}
}

func byAge(a, b Waiting) int { return a.Since.Compare(b.Since) }

// Find returns the call with an ID, in whatever case it is typed.
func Find(all []Waiting, id string) (Waiting, error) {
	var meant []Waiting
	var having []*control.Client
	for _, one := range all {
		if strings.EqualFold(one.ID, id) {
			meant, having = append(meant, one), append(having, one.workbench)
		}
	}
	switch len(meant) {
	case 0:
		return Waiting{}, control.NotWaiting(id)
	case 1:
		if one := meant[0]; !one.AnswersVia(config.AskTerminal) {
			return Waiting{}, control.WrongWay(one.ID, one.Via)
		}
		return meant[0], nil
	}
	return Waiting{}, control.SeveralRunning(having, fmt.Sprintf("Calls of several workbenches wait as '%s'", meant[0].ID), "Say which one is meant")
}
