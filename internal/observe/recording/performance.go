package recording

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// performance is a scene that is played for one request.
type performance struct {
	*Player
	scene *scene
	out   *wire.Writer
	id    []byte // of the request
	token []byte // of its progress; empty if none was requested
}

func (p *performance) run(ctx context.Context) error {
	began := time.Now()
	for _, step := range p.scene.steps {
		if p.Timing {
			if err := pause(ctx, step.after-time.Since(began)); err != nil {
				return err
			}
		}
		var err error
		switch m := step.message; {
		case m.IsRequest():
			err = p.askClient(ctx, step)
		case m.IsNotification():
			err = p.notify(ctx, m)
		default:
			err = p.out.Write(ctx, answer(p.id, m))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(max(0, d))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// answer returns the recorded response with the id of the current request.
func answer(id []byte, recorded wire.Message) []byte {
	if recorded.Error.IsAbsent() {
		return wire.Result(id, recorded.Result.Bytes())
	}
	message := wire.AppendErrorPrefix(nil, id)
	message = append(message, recorded.Error.Bytes()...)
	return append(message, '}', '\n')
}

// notify sends a notification, with the token or id of the current request.
func (p *performance) notify(ctx context.Context, m wire.Message) error {
	var edits []wire.Edit
	token := m.Params.Member("progressToken")
	if !token.IsAbsent() && bytes.Equal(token.Bytes(), p.scene.token) {
		if len(p.token) == 0 {
			return nil // this client did not request progress
		}
		edits = append(edits, wire.Edit{Part: token, With: p.token})
	}
	subscription := m.Params.Member("_meta").Member(subscriptionMeta)
	if !subscription.IsAbsent() && bytes.Equal(subscription.Bytes(), p.scene.id) {
		edits = append(edits, wire.Edit{Part: subscription, With: p.id})
	}
	params := m.Params.Bytes()
	if len(edits) > 0 {
		params = wire.AppendEdited(nil, m.Params, edits...)
	}
	return p.out.Write(ctx, wire.Notification(string(m.Method), params))
}

// askClient repeats the server's question to the client, and continues as recorded, whatever the client answers.
func (p *performance) askClient(ctx context.Context, step *step) error {
	id := string(step.message.ID.Bytes())
	answered := make(chan wire.Message, 1)
	p.mu.Lock()
	p.questions[id] = answered
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.questions, id)
	}()
	if err := p.out.Write(ctx, question(step.message)); err != nil {
		return err
	}
	if step.reply == nil {
		return nil // it was not answered in the recording, either
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case got := <-answered:
		if found := differentReply(*step.reply, got); found != "" {
			p.mu.Lock()
			p.count.Different++
			p.mu.Unlock()
			p.OnMismatch(fmt.Sprintf("The client answered '%s' in another way than recorded: %s", step.message.Method, found))
		}
		return nil
	}
}

// question is a recorded request of the server.
func question(m wire.Message) []byte {
	message := append([]byte(`{"jsonrpc":"2.0","id":`), m.ID.Bytes()...)
	message = append(message, `,"method":`...)
	message = wire.AppendString(message, string(m.Method))
	if !m.Params.IsAbsent() {
		message = append(append(message, `,"params":`...), m.Params.Bytes()...)
	}
	return append(message, '}', '\n')
}

func differentReply(recorded, got wire.Message) string {
	if recorded.Error.IsAbsent() != got.Error.IsAbsent() {
		return "one is an error, the other is not"
	}
	if recorded.Error.IsAbsent() {
		return difference("result", decode(recorded.Result), decode(got.Result))
	}
	return difference("error.code", decode(recorded.Error.Member("code")), decode(got.Error.Member("code")))
}
