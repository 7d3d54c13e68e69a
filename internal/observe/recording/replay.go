package recording

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

const (
	maxWaiting  = 1000            // scenes played at the same time
	outputQueue = 32 << 20        // bytes queued for a client
	flushTime   = 2 * time.Second // to write the last messages when a replay ends; the rest is dropped
)

// Player plays the server's side of a recording to one client.
type Player struct {
	// Timing keeps the pauses of the recording. Without it, there are none.
	Timing bool
	// OnMismatch receives the mismatches, one sentence at a time.
	OnMismatch func(string)

	stage *stage

	mu        sync.Mutex
	waiting   map[string]context.CancelFunc // scenes being played, by the request's id
	questions map[string]chan wire.Message  // to the client, by id
	count     Count
}

// Count is the result of a replay.
type Count struct {
	Answered  int // requests found in the recording
	Unmatched int // requests not found
	Different int // questions answered differently than recorded
}

// NewPlayer prepares to play a recording once.
func NewPlayer(recording *Recording) *Player {
	return &Player{
		OnMismatch: func(string) {}, stage: newStage(recording),
		waiting: make(map[string]context.CancelFunc), questions: make(map[string]chan wire.Message),
	}
}

// Serve plays to a client until it closes its side or ctx ends. It closes in.
func (p *Player) Serve(ctx context.Context, in io.ReadCloser, out io.Writer) (Count, error) {
	writer := wire.NewWriter(out, outputQueue)
	playing, cancel := context.WithCancel(ctx)
	defer cancel()
	stopReading := context.AfterFunc(ctx, func() { in.Close() })
	defer stopReading()
	var scenes sync.WaitGroup
	err := p.read(playing, in, writer, &scenes)
	cancel() // nobody answers questions any more
	scenes.Wait()
	in.Close()
	flushing, done := context.WithTimeout(context.WithoutCancel(ctx), flushTime)
	defer done()
	closed := writer.Close(flushing)
	p.mu.Lock()
	defer p.mu.Unlock()
	if ctx.Err() != nil || errors.Is(err, io.EOF) {
		return p.count, closed
	}
	return p.count, errors.Join(err, closed)
}

func (p *Player) read(ctx context.Context, in io.Reader, out *wire.Writer, scenes *sync.WaitGroup) error {
	reader := wire.NewReader(in, maxLine)
	for {
		frame, err := reader.Next()
		if err != nil {
			return err
		}
		message, err := wire.Parse(frame)
		if err != nil {
			p.OnMismatch("A message of the client is no JSON-RPC: " + err.Error())
			if err := out.Write(ctx, wire.ErrorResponse(nil, protocol.CodeInvalidRequest, "Invalid request: "+err.Error())); err != nil {
				return err
			}
			continue
		}
		switch {
		case message.IsResponse():
			p.mu.Lock()
			answered := p.questions[string(message.ID.Bytes())]
			delete(p.questions, string(message.ID.Bytes()))
			p.mu.Unlock()
			if answered != nil {
				answered <- message
			}
		case message.IsRequest():
			if err := p.request(ctx, message, out, scenes); err != nil {
				return err
			}
		case string(message.Method) == "notifications/cancelled":
			p.mu.Lock()
			cancel := p.waiting[string(message.Params.Member("requestId").Bytes())]
			p.mu.Unlock()
			if cancel != nil {
				cancel()
			}
		}
	}
}

// request plays the matching scene. A scene with questions or pauses runs concurrently.
func (p *Player) request(ctx context.Context, request wire.Message, out *wire.Writer, scenes *sync.WaitGroup) error {
	id := request.ID.Bytes()
	found, reason := p.find(request)
	if found == nil {
		if string(request.Method) == "ping" {
			return out.Write(ctx, wire.Result(id, []byte("{}")))
		}
		p.OnMismatch(reason)
		return out.Write(ctx, wire.ErrorResponse(id, protocol.CodeInvalidParams, reason))
	}
	performance := &performance{
		Player: p, scene: found, out: out, id: id, token: request.Params.Member("_meta").Member("progressToken").Bytes(),
	}
	if !p.Timing && !found.hasQuestion() {
		return performance.run(ctx)
	}
	playing, cancel := context.WithCancel(ctx)
	p.mu.Lock()
	full := len(p.waiting) >= maxWaiting
	if !full {
		p.waiting[string(id)] = cancel
	}
	p.mu.Unlock()
	if full {
		cancel()
		return out.Write(ctx, wire.ErrorResponse(id, protocol.CodeInternalError, "Too many requests at the same time for a replay"))
	}
	scenes.Go(func() {
		defer cancel()
		_ = performance.run(playing) // the writer keeps its error, and reading ends with it
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.waiting, string(id))
	})
	return nil
}

// find returns the first matching scene that was not played, else the last one that was, so that a repeated request is
// answered again. Without a match, it returns the difference.
func (p *Player) find(request wire.Message) (found *scene, reason string) {
	method, asked := string(request.Method), arguments(request.Params)
	p.mu.Lock()
	defer p.mu.Unlock()
	var others []*scene
	for _, candidate := range p.stage.scenes {
		if candidate.method != method {
			continue
		}
		if !isIndependent(method) && difference("", candidate.arguments, asked) != "" {
			others = append(others, candidate)
			continue
		}
		if found = candidate; !candidate.played {
			break
		}
	}
	if found != nil {
		found.played = true
		p.count.Answered++
		return found, ""
	}
	if method != "ping" {
		p.count.Unmatched++
	}
	return nil, unmatched(method, asked, others)
}

// unmatched returns why no scene matches.
func unmatched(method string, asked any, recorded []*scene) string {
	if len(recorded) == 0 {
		return fmt.Sprintf("The recording has no request '%s'", method)
	}
	subject := subjectOf(asked)
	var subjects []string
	for _, candidate := range recorded {
		other := subjectOf(candidate.arguments)
		if other == subject {
			return fmt.Sprintf("The recording has no such request '%s'%s: %s", method, ofSubject(subject), difference("", candidate.arguments, asked))
		}
		if !slices.Contains(subjects, other) {
			subjects = append(subjects, other)
		}
	}
	const shown = 10
	more := ""
	if len(subjects) > shown {
		subjects, more = subjects[:shown], ", …"
	}
	return fmt.Sprintf("The recording has no request '%s'%s; it has it of: %s%s", method, ofSubject(subject), strings.Join(subjects, ", "), more)
}

func ofSubject(subject string) string {
	if subject == "" {
		return ""
	}
	return " of '" + subject + "'"
}

// subjectOf returns the subject of a request: a tool, a prompt, a resource.
func subjectOf(arguments any) string {
	object, _ := arguments.(map[string]any)
	for _, key := range []string{"name", "uri", "taskId"} {
		if text, ok := object[key].(string); ok {
			return text
		}
	}
	return ""
}
