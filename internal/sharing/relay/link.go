package relay

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// link is one connection to a workbench.
type link struct {
	conn    Conn
	reader  *wire.Reader
	writer  *wire.Writer
	made    time.Time
	ended   bool          // the workbench sent its farewell; owned by the reader
	unwatch func() bool   // stops the watcher of the context
	gone    chan struct{} // closed when the link has ended completely

	parting sync.Once
	closing sync.Once
}

func newLink(conn Conn) *link {
	return &link{
		conn: conn, gone: make(chan struct{}), reader: wire.NewReader(conn, longestAnswer),
		writer: wire.NewWriter(conn, queueLimit), made: time.Now(),
	}
}

// abandon closes the connection at once.
func (l *link) abandon() {
	l.closing.Do(func() {
		ended, cancel := context.WithCancel(context.Background())
		cancel()
		_ = l.writer.Close(ended) // closing the connection unblocks it
		_ = l.conn.Close()
	})
}

// closeSending closes the sending direction after writing everything that is queued.
func (l *link) closeSending() {
	l.parting.Do(func() {
		ctx, cancel := context.WithTimeout(context.Background(), partTime)
		defer cancel()
		_ = l.writer.Close(ctx)
		_ = l.conn.CloseWrite()
	})
}

// pump forwards the messages of the workbench until the connection ends.
func (l *link) pump(r *relay) {
	for {
		frame, err := l.nextMessage(r)
		if err != nil {
			return
		}
		if r.record.recordReceived(l, frame) {
			r.send(append(frame.Bytes(), '\n'))
		}
	}
}

// nextMessage reads one message for the client or for the relay.
func (l *link) nextMessage(r *relay) (wire.Frame, error) {
	for {
		frame, err := l.reader.Next()
		if tooLong, ok := errors.AsType[*wire.TooLongError](err); ok {
			r.log.Warn("skipped a message of the workbench", "reason", err)
			if tooLong.ID != nil && !tooLong.IsRequest {
				r.record.recordAnswer(tooLong.ID)
				r.send(wire.ErrorResponse(tooLong.ID, protocol.CodeInternalError, "The answer is too long to be passed on: "+tooLong.Error()))
			}
			continue
		}
		return frame, err
	}
}

// restoreSession restores the client's session on a new connection. Nobody else reads from it meanwhile.
func (l *link) restoreSession(r *relay) error {
	plan := r.record.plan(l)
	if plan.initialize != nil {
		patience := time.AfterFunc(introductionTime, l.abandon)
		defer patience.Stop()
		if err := l.initialize(r, plan.initialize); err != nil {
			return err
		}
	}
	for _, message := range plan.then {
		if err := l.writer.Write(r.over, message); err != nil {
			return err
		}
	}
	for _, message := range plan.listChanges {
		r.send(bytes.Clone(message))
	}
	return nil
}

// initialize repeats the handshake, whose response the client already has.
func (l *link) initialize(r *relay, message []byte) error {
	if err := l.writer.Write(r.over, message); err != nil {
		return err
	}
	for {
		frame, err := l.nextMessage(r)
		if err != nil {
			return err
		}
		if id, _ := response(frame); isOwnID(id) {
			answer, err := wire.Parse(frame)
			if err == nil && !answer.Error.IsAbsent() {
				text, _ := answer.Error.Member("message").Text()
				err = fmt.Errorf("the workbench refused it: %s", text)
			}
			return err
		}
		if r.record.recordReceived(l, frame) {
			r.send(append(frame.Bytes(), '\n'))
		}
	}
}
