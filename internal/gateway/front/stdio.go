package front

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/fleet"
)

// outputQueue is how many bytes may wait for a client that does not read its stdin. Beyond that,
// its servers are not read from, either; see StdioOptions.Patience.
const outputQueue = 32 << 20

// StdioOptions is what is known of a client over stdio before its first message. The zero value is for a
// client that started this program.
type StdioOptions struct {
	Origin
	// Audience is what the client may see. Default: everything.
	Audience Audience
	// Opened are toolboxes that the client opened in the session that this one continues.
	Opened []string
	// LastAsked is the id of the last question to the client in that session, so that no id is used
	// twice.
	LastAsked uint64
	// Mark returns a line outside of the protocol that is written to the client when it has opened a
	// toolbox. Default: none.
	Mark func(toolbox string) []byte
	// Farewell is a line outside of the protocol that is written last if the workbench ends first.
	Farewell []byte
	// Patience is how long a client may leave a full queue unread, since others may wait for the
	// same servers. Then its session ends. Default: no limit.
	Patience time.Duration
}

// Origin is where a client was started. The zero value is where this program was.
type Origin struct {
	// Folder is where the client works.
	Folder string
	// Environment is that of the client.
	Environment *fleet.Environment
}

// ServeStdio serves one client until it closes its side or ctx ends, and answers what was read by
// then. It closes in and out.
func (s *Server) ServeStdio(ctx context.Context, in io.ReadCloser, out io.WriteCloser, known StdioOptions) error {
	client := newSession(s, identity{sender: sender{audience: known.Audience}, origin: known.Origin})
	pipe := &pipe{session: client, statelessClients: newStatelessClients(s, maxStdioClients), writer: wire.NewWriter(out, outputQueue), patience: known.Patience, hangUp: out.Close}
	pipe.statelessClients.origin, pipe.statelessClients.isOwn = known.Origin, true
	client.notifier = pipe
	pipe.resume(known)
	s.add(client)
	defer s.remove(client)

	ended := make(chan error, 1)
	go func() { ended <- pipe.read(in) }()
	var err error
	select {
	case err = <-ended:
		ended <- nil
	case <-ctx.Done():
		s.options.Log.Info("shutting down", "reason", context.Cause(ctx))
	case <-pipe.writer.Closed():
		err = pipe.writer.Err()
	}
	if ctx.Err() == nil {
		known.Farewell = nil
	}
	pipe.held.wait() // they are answered, too
	var ending sync.WaitGroup
	ending.Go(func() { pipe.statelessClients.finish(pipe.writer.Closed(), answerTime) })
	client.finish(pipe.writer.Closed(), answerTime)
	ending.Wait()
	if known.Farewell != nil {
		pipe.writer.TryWrite(known.Farewell)
	}
	pipe.flush()
	out.Close()
	stopReading(in, ended)
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// stopReading ends the client's reader. Where the system cannot interrupt a read, as of a console,
// closing waits as well, and both are left to the end of the program.
func stopReading(in io.Closer, ended <-chan error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		in.Close()
		<-ended
	}()
	patience := time.NewTimer(readTime)
	defer patience.Stop()
	select {
	case <-done:
	case <-patience.C:
	}
}

// pipe is the two streams of a client that talks over stdio.
type pipe struct {
	session          *session
	statelessClients *statelessClients // in the modern era
	writer           *wire.Writer
	era              chosenEra // that its client chose; of the reader alone
	meta             metaReader
	mark             string // of the client's connection, if it is a workbench of the modern era; of the reader alone
	held             heldMessages

	patience time.Duration // see Pipe
	hangUp   func() error
}

// resume restores what the client did in the session that this one continues.
func (p *pipe) resume(known StdioOptions) {
	s := p.session
	s.questions.last = known.LastAsked
	if len(known.Opened) > 0 {
		s.memory.Resume()
	}
	for _, toolbox := range known.Opened {
		s.opened.restore(toolbox)
	}
	if known.Mark != nil {
		s.opened.onAdd = func(toolbox string) { p.writer.TryWrite(known.Mark(toolbox)) }
	}
}

// read handles the client's messages until it closes its side.
func (p *pipe) read(in io.Reader) error {
	reader := wire.NewReader(in, p.session.server.options.MaxMessage)
	reader.Gather = true
	for {
		frame, err := reader.Next()
		if tooLong, ok := errors.AsType[*wire.TooLongError](err); ok {
			p.session.log.Warn("skipped a message of the client", "reason", err)
			p.respond(errorTo(tooLong.ID, protocol.CodeInvalidRequest, "Invalid request: "+tooLong.Error()))
			continue
		}
		if err != nil {
			return err
		}
		if p.era == legacy {
			p.receiveLegacy(frame)
		} else {
			p.receive(frame)
		}
	}
}

// receiveLegacy handles a frame of a client of the legacy era.
func (p *pipe) receiveLegacy(frame wire.Frame) {
	if frame.IsBatch() {
		p.session.receiveBatch(frame, p)
		return
	}
	message, err := wire.Parse(frame)
	switch {
	case err != nil:
		p.respond(rejection(frame, err))
	case message.IsResponse() || !p.held.holdBack(p, &message):
		p.session.dispatch(&message, p)
	}
}

// notify implements replyPath. It blocks while the client has too much to read, until its session
// ends.
func (p *pipe) notify(message outgoing) error {
	return p.write(p.session.requests.life, message.encode(), false)
}

// write hangs up on a client that leaves its queue unread for too long. For owned, see
// wire.Writer.WriteOwned.
func (p *pipe) write(ctx context.Context, message []byte, owned bool) error {
	try, write := p.writer.TryWrite, p.writer.Write
	if owned {
		try, write = p.writer.TryWriteOwned, p.writer.WriteOwned
	}
	if p.patience <= 0 {
		return write(ctx, message)
	}
	if try(message) {
		return nil
	}
	limited, cancel := context.WithTimeoutCause(ctx, p.patience, errUnread)
	defer cancel()
	err := write(limited, message)
	if err != nil && errors.Is(context.Cause(limited), errUnread) {
		p.session.log.Warn("ended the session of a client", "reason", errUnread)
		_ = p.hangUp() // what waits would not have been read
	}
	return err
}

// respond implements replyPath. That a response cannot be sent any more ends the session anyway.
func (p *pipe) respond(r response) {
	message := r.encode()
	if message == nil {
		return
	}
	// Responses are sent even when unanswered requests have been given up, until flush closes the
	// writer.
	if err := p.write(context.Background(), message, true); err != nil {
		p.session.log.Debug("could not answer the client", "reason", err)
	}
}

// tryNotify implements notifier.
func (p *pipe) tryNotify(message outgoing) bool { return p.writer.TryWrite(message.encode()) }

// flush waits until the last responses are written.
func (p *pipe) flush() {
	ctx, cancel := context.WithTimeout(context.Background(), flushTime)
	defer cancel()
	if err := p.writer.Close(ctx); err != nil {
		p.session.log.Warn("the client did not take its last answers")
	}
}
