package approve

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/internal/sharing/control"
)

// Finder returns the running workbenches; an error with the code NotRunning if there is none.
type Finder func(ctx context.Context) ([]*control.Client, error)

// DecideAll asks about each call that waits, and about those that come meanwhile.
func (p *Person) DecideAll(ctx context.Context, found []*control.Client, waiting []Waiting) error {
	waiting = slices.DeleteFunc(slices.Clone(waiting), func(one Waiting) bool {
		isElsewhere := !one.AnswersVia(config.AskTerminal)
		if isElsewhere {
			p.say(elsewhere(one))
		}
		return isElsewhere
	})
	if len(waiting) == 0 {
		p.say("No call waits for approval.")
		return nil
	}
	ctx, cancel := context.WithCancel(ctx)
	calls := newFeed(nil)
	defer calls.followers.Wait()
	defer cancel()
	p.say(toolbox.Count(len(waiting), "call waits", "calls wait") + " for approval. Press Ctrl-C to quit.")
	byWorkbench := make(map[int][]control.Question)
	for _, one := range waiting {
		byWorkbench[one.PID] = append(byWorkbench[one.PID], one.Question)
	}
	for _, workbench := range found {
		if questions := byWorkbench[workbench.Status.PID]; len(questions) > 0 {
			calls.update(ctx, workbench, questions)
			calls.follow(ctx, workbench)
		}
	}
	for call := calls.next(); call != nil; call = calls.next() {
		if err := p.decideOne(calls, call); err != nil {
			return err
		}
	}
	return nil
}

// elsewhere names what waits and cannot be answered here.
func elsewhere(one Waiting) string {
	what := "A call of " + shortName(one) + " waits for approval"
	if one.Kind == control.Elicitation {
		what = "Server " + tty.CleanLine(one.Server) + " asks something"
	}
	return what + " (" + tty.CleanLine(one.ID) + "). Answer it at: mcp-workbench ui"
}

// findInterval is how often Watch looks for workbenches that were started meanwhile.
const findInterval = time.Second

// Watch asks about every call as soon as it waits, with a bell, until the context ends.
func (p *Person) Watch(ctx context.Context, find Finder) error {
	ctx, cancel := context.WithCancelCause(ctx)
	calls := newFeed(p.ring)
	defer calls.followers.Wait()
	defer cancel(nil)
	finding := make(chan struct{})
	defer func() { <-finding }()
	defer cancel(nil)
	go func() {
		defer close(finding)
		if err := calls.followAll(ctx, find); err != nil {
			cancel(err)
		}
	}()
	p.say("Waiting for calls that need approval. Press Ctrl-C to quit.")
	for ctx.Err() == nil {
		call := calls.next()
		if call == nil {
			select {
			case <-calls.changed:
			case <-ctx.Done():
			}
			continue
		}
		err := p.decideOne(calls, call)
		switch wrong, ok := errors.AsType[*toolbox.Error](err); {
		case err == nil:
		case ok && wrong.Code == toolbox.WrongCode:
			fmt.Fprintln(p.screen, wrong.Message+".") // it is asked again, with another code
			continue
		case ctx.Err() == nil:
			return err
		}
		if calls.next() == nil && ctx.Err() == nil {
			p.say("Waiting for further calls.")
		}
	}
	if err := context.Cause(ctx); !errors.Is(err, context.Canceled) {
		return err
	}
	return nil // the usual end
}

// followAll follows all running workbenches, also those that start later.
func (f *feed) followAll(ctx context.Context, find Finder) error {
	again := time.NewTicker(findInterval)
	defer again.Stop()
	for {
		found, err := find(ctx)
		if problem, ok := errors.AsType[*toolbox.Error](err); err != nil && (!ok || problem.Code != toolbox.NotRunning) {
			return err
		}
		for _, workbench := range found {
			f.follow(ctx, workbench)
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// decideOne asks about one call. One that ends meanwhile is not an error.
func (p *Person) decideOne(calls *feed, call *openCall) error {
	err := p.decide(call, call.Waiting)
	gone, ok := errors.AsType[*toolbox.Error](err)
	switch {
	case err == nil, errors.Is(err, errSkipped):
		err = nil
	case errors.Is(err, errEnded), ok && gone.Code == toolbox.QuestionNotFound:
		p.say(HowEnded(call.Waiting))
		err = nil
	default:
		return err
	}
	calls.finish(call)
	return err
}

// HowEnded says why a call no longer waits.
func HowEnded(one Waiting) string {
	if !time.Now().Before(one.Deadline) {
		return "Its time is over, and it was denied."
	}
	return "It was answered elsewhere, or its caller gave up."
}
