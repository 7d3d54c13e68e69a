package app

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/gateway/metatool"
)

// UnseenPatience is the total wait for servers that were never connected, where only their lists are needed.
const UnseenPatience = metatool.ListPatience

// ErrNotAwaited is the error of a server for which the wait ended.
var ErrNotAwaited = fmt.Errorf("has not answered within %d s, and was never seen: its tools are not known", UnseenPatience/time.Second)

// Patience limits the wait for servers that were never connected. The first answer is awaited as long as servers may
// take, since nothing can be shown before it.
type Patience struct {
	ctx       context.Context
	giveUp    context.CancelCauseFunc
	timer     *time.Timer
	some, end atomic.Bool // a server is known; the time is over
}

// NewPatience starts a wait, whose end cancels the returned context. Known reports whether other
// servers have a cached list. Call End.
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

// Judge records the result of waiting for one server, and returns the error to show.
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
