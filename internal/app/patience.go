package app

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/gateway/metatool"
)

// UnseenPatience is how long servers that were never seen are waited for in all by who only
// wants to know what there is.
const UnseenPatience = metatool.ListPatience

// ErrNotAwaited is why nothing is known of a server that was not waited for any longer.
var ErrNotAwaited = fmt.Errorf("has not answered within %d s, and was never seen: its tools are not known", UnseenPatience/time.Second)

// Patience bounds the wait for servers that were never seen. Until one server answered there is
// nothing to go on with, so that the first answer is waited for as long as servers may take.
type Patience struct {
	ctx       context.Context
	giveUp    context.CancelCauseFunc
	timer     *time.Timer
	some, end atomic.Bool // a server is known; the time is over
}

// NewPatience begins a wait, which ends the context that is returned; known says that something
// is known of other servers. End it.
func NewPatience(ctx context.Context, known bool) (context.Context, *Patience) {
	p := &Patience{}
	p.ctx, p.giveUp = context.WithCancelCause(ctx)
	p.some.Store(known)
	p.timer = time.AfterFunc(UnseenPatience, func() {
		p.end.Store(true)
		if p.some.Load() {
			p.giveUp(ErrNotAwaited)
		}
	})
	return p.ctx, p
}

// Judge is told how the wait for one server ended, and returns that as a person is to see it.
func (p *Patience) Judge(err error) error {
	if err == nil {
		p.some.Store(true)
		if p.end.Load() {
			p.giveUp(ErrNotAwaited)
		}
		return nil
	}
	if errors.Is(context.Cause(p.ctx), ErrNotAwaited) && (errors.Is(err, context.Canceled) || errors.Is(err, ErrNotAwaited)) {
		return ErrNotAwaited
	}
	return err
}

// End ends the wait.
func (p *Patience) End() {
	p.timer.Stop()
	p.giveUp(nil)
}
