// Package audit keeps a log of what clients, people and servers did that shows later changes: lines of JSON that are
// chained by their hashes and sealed with signatures. It also verifies and exports such logs.
package audit

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// Limits of what waits to be written.
const (
	maxQueue = 8192            // lines that wait to be written; further ones are lost, and counted
	maxBatch = 1024            // lines that are written and synced together; the others wait for the next batch
	ackTime  = 5 * time.Second // for a line that a call waits for; then the call is refused
)

const (
	flushDelay = 100 * time.Millisecond // how long a line that nobody waits for may stay in memory
	retryTime  = time.Second            // between two attempts to write after a failure
	sealTime   = 5 * time.Minute        // between two seals, if anything was written
	closeTime  = time.Second            // for writing what waits when the log is closed
)

// Options configure a log.
type Options struct {
	Folder   string        // of the log; several processes may write to it
	Keys     string        // folder of the keys
	Required bool          // calls wait until they are recorded, and are refused otherwise
	Keep     time.Duration // how long files are kept; 0: for ever
	Version  string        // of the program
	// Mask hides secrets in a text that came from a client. Default: nothing is hidden.
	Mask func(text string) string
	Log  *slog.Logger // default: discard

	open    func(path string, isNew bool) (file, error) // in tests
	maxFile int64                                       // default: maxFile
	isBrief bool                                        // for one entry; see Record
}

// Log is where a process records events. It is safe for concurrent use.
type Log struct {
	options Options
	writer  string // identifies this process among all that write to the log
	keys    atomic.Pointer[keys]

	mu       sync.Mutex
	queue    []item
	lost     uint64 // lines that could not be written, and that the log does not tell of yet
	isBegun  bool   // something was recorded: a workbench that serves nobody leaves no lines
	isClosed bool
	summary  func() []byte // a line about what was not recorded one by one; nil if nothing is summarized

	wake, urgent chan struct{} // hold a token when lines wait, or somebody waits for them
	failing      atomic.Pointer[failure]
	stop         chan struct{}
	done         chan struct{}
}

// item is a line that waits to be written.
type item struct {
	at   time.Time
	body []byte       // members of the line, without those that depend on its place
	ack  chan<- error // gets nil when the line is on disk; nil if nobody waits
	then func()       // called when it is on disk; may be nil
}

// failure is why nothing can be written.
type failure struct{ err error }

// Open begins to record. It returns at once: if the log cannot be written, that is logged, and tried again. Close must be
// called.
func Open(options Options) *Log {
	if options.Log == nil {
		options.Log = slog.New(slog.DiscardHandler)
	}
	if options.Mask == nil {
		options.Mask = func(text string) string { return text }
	}
	if options.open == nil {
		options.open = openFile
	}
	if options.maxFile == 0 {
		options.maxFile = maxFile
	}
	var id [4]byte
	_, _ = rand.Read(id[:]) // never fails
	l := &Log{
		options: options, writer: fmt.Sprintf("%d-%s", os.Getpid(), hex.EncodeToString(id[:])),
		wake: make(chan struct{}, 1), urgent: make(chan struct{}, 1), stop: make(chan struct{}), done: make(chan struct{}),
	}
	if known, err := loadKeys(options.Keys); err == nil { // otherwise the writer tries again, and reports it
		l.keys.Store(known)
	}
	w := &writer{log: l}
	go w.run()
	return l
}

// errClosed means that the workbench ends.
var errClosed = errors.New("the workbench ends")

// errFull means that lines come faster than they can be written.
var errFull = errors.New("too many lines wait to be written")

// Close writes what waits, and ends the log with a seal. It returns when that is done, or ctx has ended.
func (l *Log) Close(ctx context.Context) error {
	l.addSummary()
	l.mu.Lock()
	wasClosed := l.isClosed
	if !wasClosed && !l.options.isBrief && l.isBegun {
		l.queue = append(l.queue, item{at: time.Now(), body: newFields(eventLog, "ended").bytes()})
	}
	l.isClosed = true
	l.mu.Unlock()
	if !wasClosed {
		close(l.stop)
	}
	ctx, cancel := context.WithTimeout(ctx, closeTime)
	defer cancel()
	select {
	case <-l.done:
		if failed := l.failing.Load(); failed != nil {
			return failed.err
		}
		return nil
	case <-ctx.Done():
		return ctx.Err() // a disk that hangs; the goroutine ends with it
	}
}

// add queues a line. It never blocks.
func (l *Log) add(next item) error {
	if next.at.IsZero() {
		next.at = time.Now()
	}
	l.mu.Lock()
	var err error
	switch {
	case l.isClosed:
		err = errClosed
	case len(l.queue) >= maxQueue:
		err = errFull
	}
	if err != nil {
		l.lost++
	} else {
		if !l.isBegun && !l.options.isBrief {
			l.queue = append(l.queue, item{at: next.at, body: l.started()})
		}
		l.isBegun = true
		l.queue = append(l.queue, next)
	}
	l.mu.Unlock()
	signal(l.wake)
	if next.ack != nil {
		signal(l.urgent)
	}
	return err
}

// summarize sets what has a line to add from time to time, and in the end. It is called without the lock of the log.
func (l *Log) summarize(summary func() []byte) {
	l.mu.Lock()
	l.summary = summary
	l.mu.Unlock()
}

// addSummary queues the line of a summary, if there is one.
func (l *Log) addSummary() {
	l.mu.Lock()
	summary := l.summary
	l.mu.Unlock()
	if summary == nil {
		return
	}
	if body := summary(); body != nil {
		_ = l.add(item{body: body}) // what is lost is counted
	}
}

// started is the first line of this process.
func (l *Log) started() []byte {
	return newFields(eventLog, "started").text("service.version", l.options.Version).number("process.pid", int64(os.Getpid())).number("user.id", int64(os.Getuid()))
}

// hasBegun reports whether anything was recorded.
func (l *Log) hasBegun() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.isBegun
}

// addDurably queues a line, and returns when it is on disk.
func (l *Log) addDurably(ctx context.Context, body []byte) error {
	ack := make(chan error, 1)
	if err := l.add(item{body: body, ack: ack}); err != nil {
		return err
	}
	timer := time.NewTimer(ackTime)
	defer timer.Stop()
	select {
	case err := <-ack:
		return err
	case <-timer.C:
		return fmt.Errorf("it was not written within %s", ackTime)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// take removes the next lines from the queue, and the number of lines that were lost before them.
func (l *Log) take() (batch []item, lost uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := min(len(l.queue), maxBatch)
	batch = append(batch, l.queue[:n]...)
	l.queue = append(l.queue[:0], l.queue[n:]...)
	clear(l.queue[len(l.queue):cap(l.queue)])
	lost, l.lost = l.lost, 0
	return batch, lost
}

// giveBack counts lines that could not be written.
func (l *Log) giveBack(lost uint64) {
	l.mu.Lock()
	l.lost += lost
	l.mu.Unlock()
}

// hasMoreThan reports whether more than a number of lines wait to be written.
func (l *Log) hasMoreThan(n int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.queue) > n
}

// Unwritten returns how many lines could not be written, or wait to be.
func (l *Log) Unwritten() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lost + uint64(len(l.queue))
}

// Failing returns why nothing can be written at present; nil if it can.
func (l *Log) Failing() error {
	if failed := l.failing.Load(); failed != nil {
		return failed.err
	}
	return nil
}

func signal(to chan<- struct{}) {
	select {
	case to <- struct{}{}:
	default:
	}
}

// Record opens a log, adds one entry and closes the log, for commands.
func Record(ctx context.Context, options Options, entry Entry) error {
	options.isBrief = true
	l := Open(options)
	err := l.addDurably(ctx, entry.fields(l).bytes())
	return cmp.Or(err, l.Close(ctx)) // both have the same reason
}
