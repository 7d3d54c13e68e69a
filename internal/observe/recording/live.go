package recording

import (
	"errors"
	"io"
	"strconv"
	"sync"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/downstream"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/fleet"
)

// Limits of the recording of a running server.
const (
	maxQueued      = 4096     // messages that wait to be written; more are lost, and counted
	maxQueuedBytes = 16 << 20 // of these messages; more are lost, and counted
	maxLiveMessage = 4 << 20  // size of a recorded message; of a longer one, only the size is kept
	maxFile        = 32 << 20 // size of a recording; it ends then
)

// Why a recording ended.
const (
	endTime     = "time"     // its time was over
	endStopped  = "stopped"  // by a person
	endFull     = "full"     // the file has its largest size
	endFailed   = "failed"   // the file could not be written
	endShutdown = "shutdown" // the workbench ended
)

// errFull means that a recording has its largest size.
var errFull = errors.New("the recording has its largest size")

// live records the messages between a running workbench and one of its servers. It implements downstream.Tap: what it is
// shown waits in a bounded queue for the one goroutine that writes it. Of several sessions at the same time it records the
// one with the first request, until that ends: the file stays one that can be replayed.
type live struct {
	mask  mask
	known func(*downstream.Session) []fleet.Listed
	began time.Time
	wake  chan struct{} // holds a token when there is something to write

	mu       sync.Mutex
	session  *downstream.Session // that is recorded; nil before the first request
	sessions int                 // so far
	queue    []queued
	bytes    int          // in the queue
	missing  map[Side]int // messages lost since the last one in the queue
	lost     int          // in all
	messages int          // in the file
	size     int64        // of the file
	closed   bool         // nothing is added to the queue any more
}

// queued is something to write.
type queued struct {
	at      time.Duration
	from    Side
	message []byte
	owner   []byte // id of the request that a response without an id answers; nil: none
	skipped int64
	lost    int
	// begins is the session that begins with this, and number counts the sessions; isNew says that it begins with its own
	// handshake.
	begins *downstream.Session
	number int
	isNew  bool
}

func newLive(m mask, known func(*downstream.Session) []fleet.Listed) *live {
	return &live{mask: m, known: known, began: time.Now(), wake: make(chan struct{}, 1), missing: make(map[Side]int)}
}

// Sent implements downstream.Tap.
func (l *live) Sent(session *downstream.Session, method string, message []byte) {
	l.add(session, method, queued{from: Client, message: message})
}

// Received implements downstream.Tap.
func (l *live) Received(session *downstream.Session, message, owner []byte) {
	l.add(session, "", queued{from: Server, message: message, owner: owner})
}

// Skipped implements downstream.Tap.
func (l *live) Skipped(session *downstream.Session, size int64) {
	l.add(session, "", queued{from: Server, skipped: size})
}

// add queues a copy of a message. It neither blocks nor waits for the file.
func (l *live) add(session *downstream.Session, method string, item queued) {
	item.at = time.Since(l.began)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed || session != l.session && !l.begin(session, method, &item) {
		return
	}
	if len(item.message) > maxLiveMessage {
		item.message, item.skipped = nil, int64(len(item.message))
	}
	if len(l.queue) >= maxQueued || l.bytes+len(item.message) > maxQueuedBytes {
		l.missing[item.from]++
		l.lost++
		return
	}
	l.noteMissing(item.at)
	item.message = append([]byte(nil), item.message...)
	l.bytes += len(item.message)
	l.queue = append(l.queue, item)
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// begin makes a session the one that is recorded if there is none or the former has ended, with its first request. Called
// with mu held.
func (l *live) begin(session *downstream.Session, method string, item *queued) bool {
	if method == "" || l.session != nil && l.session.Err() == nil {
		return false
	}
	l.sessions++
	l.session = session
	begins := queued{
		at: item.at, begins: session, number: l.sessions,
		isNew: method == protocol.MethodInitialize || method == protocol.MethodDiscover,
	}
	l.noteMissing(item.at)
	l.queue = append(l.queue, begins) // a full queue holds it as well: there are few
	return true
}

// noteMissing queues how many messages were lost. Called with mu held.
func (l *live) noteMissing(at time.Duration) {
	for _, side := range []Side{Client, Server} {
		if n := l.missing[side]; n > 0 {
			l.queue = append(l.queue, queued{at: at, from: side, lost: n})
			delete(l.missing, side)
		}
	}
}

// close ends the queue, so that nothing is added.
func (l *live) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	l.noteMissing(time.Since(l.began))
}

// writeQueued writes what is queued.
func (l *live) writeQueued(dst io.Writer) error {
	for {
		l.mu.Lock()
		items := l.queue
		l.queue, l.bytes = nil, 0
		l.mu.Unlock()
		if len(items) == 0 {
			return nil
		}
		for i := range items {
			if err := l.write(dst, &items[i]); err != nil {
				return err
			}
			items[i].message = nil
		}
	}
}

func (l *live) write(dst io.Writer, item *queued) error {
	at := secondsAfter(item.at)
	switch {
	case item.begins != nil:
		return l.writeBeginning(dst, at, item)
	case item.lost > 0:
		return l.writeLine(dst, &line{At: at, From: item.from, Lost: item.lost})
	case item.skipped > 0:
		return l.writeLine(dst, &line{At: at, From: item.from, Skipped: item.skipped})
	}
	for _, message := range split(item.message) {
		one := line{At: at, From: item.from}
		one.hold(l.mask, withID(message, item.owner))
		if err := l.writeLine(dst, &one); err != nil {
			return err
		}
	}
	return nil
}

// withID returns a response without an id with that of its request, so that a replay finds what it answers. Other messages
// are returned as they are.
func withID(message, id []byte) []byte {
	if id == nil {
		return message
	}
	parsed, err := wire.Parse(wire.NewFrame(append([]byte(nil), message...)))
	switch {
	case err != nil || !parsed.IsResponse() || !parsed.ID.IsAbsent():
		return message
	case parsed.Error.IsAbsent():
		return wire.Result(id, parsed.Result.Bytes())
	}
	return append(append(wire.AppendErrorPrefix(nil, id), parsed.Error.Bytes()...), wire.Suffix...)
}

// split returns the messages of a batch, or the one message.
func split(message []byte) (messages [][]byte) {
	if !wire.NewFrame(message).IsBatch() {
		return [][]byte{message}
	}
	value, err := wire.ParseValue(message)
	if err != nil {
		return [][]byte{message}
	}
	for element := range value.Elements() {
		messages = append(messages, append([]byte(nil), element.Bytes()...))
	}
	return messages
}

// writeBeginning writes what a replay needs of a session that began before the recording: the handshake and the lists.
func (l *live) writeBeginning(dst io.Writer, at float64, item *queued) error {
	if item.number > 1 {
		if err := l.writeLine(dst, &line{At: at, From: Client, Session: item.number}); err != nil {
			return err
		}
	}
	if item.isNew {
		return nil
	}
	request, response := item.begins.Handshake(1)
	err := errors.Join(l.writeKnown(dst, at, Client, request), l.writeKnown(dst, at, Server, response))
	if !item.begins.Modern() {
		err = errors.Join(err, l.writeKnown(dst, at, Client, wire.Notification(protocol.NotifyInitialized, nil)))
	}
	for i, list := range l.known(item.begins) {
		id := uint64(i) + 2
		err = errors.Join(err,
			l.writeKnown(dst, at, Client, wire.Request(id, list.Method, nil)),
			l.writeKnown(dst, at, Server, listing(id, list, item.begins.Modern())))
	}
	return err
}

// listing returns the response to a request for a list.
func listing(id uint64, list fleet.Listed, modern bool) []byte {
	result := []byte("{")
	if modern {
		result = append(result, `"resultType":"complete","ttlMs":0,"cacheScope":"private",`...)
	}
	result = append(wire.AppendString(result, list.Member), `:[`...)
	for i, entry := range list.Entries {
		if i > 0 {
			result = append(result, ',')
		}
		result = append(result, entry.Bytes()...)
	}
	return wire.Result(strconv.AppendUint(nil, id, 10), append(result, "]}"...))
}

func (l *live) writeKnown(dst io.Writer, at float64, from Side, message []byte) error {
	one := line{At: at, From: from, Known: true}
	one.hold(l.mask, message)
	return l.writeLine(dst, &one)
}

// writeLine writes one line, unless the file gets too large.
func (l *live) writeLine(dst io.Writer, one *line) error {
	text, err := one.encode()
	if err != nil {
		return err
	}
	l.mu.Lock()
	isFull := l.size+int64(len(text)) > maxFile
	l.mu.Unlock()
	if isFull && one.Ended == "" {
		return errFull
	}
	if _, err := dst.Write(text); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.size += int64(len(text))
	if one.Message != nil || one.Text != "" || one.Skipped > 0 {
		l.messages++
	}
	return nil
}
