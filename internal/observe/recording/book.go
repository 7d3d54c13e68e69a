package recording

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/downstream"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/fleet"
)

// Limits of recordings of running servers.
const (
	maxRunning = 4 // recordings of one workbench at the same time; further ones are refused

	// DefaultSpan is how long a recording takes if nobody says so, and LongestSpan how long at most.
	DefaultSpan = 5 * time.Minute
	LongestSpan = time.Hour // of a recording; longer ones are refused
)

// Info describes a recording of a running server.
type Info struct {
	Name     string
	Path     string
	Toolbox  string
	Server   string
	At       time.Time // when it began
	Until    time.Time // when it will end, while it runs
	Running  bool      // in this workbench
	Waiting  bool      // for the first request to the server, which may not run yet
	Messages int
	Size     int64
	Lost     int    // messages that are missing
	Ended    string // why it ended; "" while it runs, or if its workbench was killed
}

// Options configure a Book.
type Options struct {
	Folder string // of the files; "": nothing can be recorded
	By     string // program and version
	Mask   func(text string) string
	Log    *slog.Logger
}

// Source is a server of a running workbench.
type Source struct {
	Toolbox, Server string
	Taps            *downstream.TapPoint
	// Listed returns what is known of the lists of a session.
	Listed func(*downstream.Session) []fleet.Listed
}

// Book holds the recordings of running servers: those that this workbench makes, and the files of all workbenches of the
// user. It is safe for concurrent use.
type Book struct {
	options  Options
	writers  sync.WaitGroup
	makeRoom func(folder string, running int, now time.Time) error

	starting sync.Mutex // held by Start, before mu

	mu      sync.Mutex
	running map[string]*taking // by name
	closed  bool
}

// taking is a recording that is being made.
type taking struct {
	*live
	info Info // as it began
	stop chan string
	done chan struct{}
}

// Folder returns the folder of the files in the state folder.
func Folder(stateDir string) string {
	if stateDir == "" {
		return ""
	}
	return filepath.Join(stateDir, "recordings")
}

// NewBook returns the recordings of a folder.
func NewBook(options Options) *Book {
	return &Book{options: options, makeRoom: makeRoom, running: make(map[string]*taking)}
}

// Start begins to record a server for a time. It makes room for the file first.
func (b *Book) Start(source Source, span time.Duration) (Info, error) {
	if span <= 0 || span > LongestSpan {
		return Info{}, fmt.Errorf("a recording takes up to %s", LongestSpan)
	}
	b.starting.Lock()
	defer b.starting.Unlock()
	b.mu.Lock()
	running, err := len(b.running), b.admit(source)
	b.mu.Unlock()
	if err != nil {
		return Info{}, err
	}
	// It reads all files of the folder. Whoever asks what runs does not wait for that.
	if err := b.makeRoom(b.options.Folder, running+1, time.Now()); err != nil {
		return Info{}, unwritable(err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.admit(source); err != nil { // it may be closed by now
		return Info{}, err
	}
	l := newLive(mask{b.options.Mask}, source.Listed)
	began := l.began.UTC().Truncate(time.Second)
	header := Header{By: b.options.By, At: began, Server: source.Toolbox + "/" + source.Server, Toolbox: source.Toolbox, Until: began.Add(span)}
	file, name, err := create(b.options.Folder, header)
	if err != nil {
		return Info{}, unwritable(err)
	}
	n, err := header.write(file)
	if err != nil {
		return Info{}, unwritable(errors.Join(err, file.Close(), os.Remove(file.Name())))
	}
	l.size = int64(n)
	t := &taking{live: l, stop: make(chan string, 1), done: make(chan struct{}), info: Info{
		Name: name, Path: file.Name(), Toolbox: source.Toolbox, Server: source.Server, At: began, Until: header.Until, Running: true,
	}}
	if !source.Taps.Attach(l) {
		return Info{}, errors.Join(alreadyRecorded(source), file.Close(), os.Remove(file.Name()))
	}
	b.running[name] = t
	b.writers.Go(func() { b.run(t, source.Taps, file, span) })
	return t.now(), nil
}

// admit refuses a recording that cannot begin. Called with mu held.
func (b *Book) admit(source Source) error {
	switch {
	case b.options.Folder == "":
		return &toolbox.Error{Code: toolbox.NoStateFolder, Message: "This workbench has no folder for recordings", Hint: "Set HOME or XDG_STATE_HOME for it."}
	case b.closed:
		return errors.New("the workbench is shutting down")
	case len(b.running) >= maxRunning:
		return &toolbox.Error{
			Code: toolbox.RecordingRunning, Message: fmt.Sprintf("This workbench makes %d recordings already, which is the limit", maxRunning),
			Hint: "Stop one of them, or wait until one ends.",
		}
	}
	for _, t := range b.running {
		if t.info.Toolbox == source.Toolbox && t.info.Server == source.Server {
			return alreadyRecorded(source)
		}
	}
	return nil
}

func alreadyRecorded(source Source) error {
	return &toolbox.Error{
		Code: toolbox.RecordingRunning, Message: fmt.Sprintf("%s/%s is being recorded already", source.Toolbox, source.Server),
		Hint: "Stop that recording, or wait until it ends.",
	}
}

func unwritable(err error) error {
	return &toolbox.Error{
		Code: toolbox.FileNotWritten, Message: fmt.Sprintf("The recording cannot be written: %v", err), Cause: err,
		Hint: "Make sure that the state folder can be written to, and that there is space left.",
	}
}

// run writes a recording until its end.
func (b *Book) run(t *taking, taps *downstream.TapPoint, file *os.File, span time.Duration) {
	defer close(t.done)
	out := bufio.NewWriter(file)
	timer := time.NewTimer(span)
	defer timer.Stop()
	reason := ""
	var err error
	for reason == "" {
		select {
		case <-t.wake:
			if err = errors.Join(t.writeQueued(out), out.Flush()); err != nil {
				reason = b.failed(err)
			}
		case <-timer.C:
			reason = endTime
		case reason = <-t.stop:
		}
	}
	taps.Detach(t.live)
	t.close()
	if err == nil {
		if err = t.writeQueued(out); err != nil {
			reason = b.failed(err)
		}
	}
	t.mu.Lock()
	end := line{At: secondsAfter(time.Since(t.began)), From: Client, Ended: reason, Messages: t.messages, Lost: t.lost}
	t.mu.Unlock()
	if err = errors.Join(t.writeLine(out, &end), out.Flush(), file.Close()); err != nil && reason != endFailed {
		b.failed(err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.running, t.info.Name)
}

// failed returns why a recording ended with an error.
func (b *Book) failed(err error) string {
	if errors.Is(err, errFull) {
		return endFull
	}
	b.options.Log.Warn("a recording cannot be written, and ends", "reason", err)
	return endFailed
}

// now describes a recording at this moment.
func (t *taking) now() Info {
	info := t.info
	t.mu.Lock()
	defer t.mu.Unlock()
	info.Waiting, info.Messages, info.Size, info.Lost = t.session == nil, t.messages, t.size, t.lost
	return info
}

// Stop ends a recording, and waits until its file is complete.
func (b *Book) Stop(ctx context.Context, name string) (Info, error) {
	b.mu.Lock()
	t := b.running[name]
	b.mu.Unlock()
	if t == nil {
		if info, err := b.Find(name); err == nil {
			return info, nil // it has ended by itself
		}
		return Info{}, notFound(name)
	}
	t.end(endStopped)
	select {
	case <-t.done:
	case <-ctx.Done():
		return Info{}, ctx.Err()
	}
	return b.Find(name)
}

func (t *taking) end(reason string) {
	select {
	case t.stop <- reason:
	default: // it ends already
	}
}

// Running returns the recordings that this workbench makes, the newest first.
func (b *Book) Running() []Info {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := []Info{}
	for _, t := range b.running {
		all = append(all, t.now())
	}
	slices.SortFunc(all, newestFirst)
	return all
}

func newestFirst(a, b Info) int {
	return cmp.Or(b.At.Compare(a.At), strings.Compare(b.Name, a.Name))
}

// List returns all recordings, the newest first.
func (b *Book) List() ([]Info, error) {
	all, err := list(b.options.Folder)
	running := b.Running()
	all = slices.DeleteFunc(all, func(info Info) bool {
		return slices.ContainsFunc(running, func(r Info) bool { return r.Name == info.Name })
	})
	all = append(all, running...)
	slices.SortFunc(all, newestFirst)
	return all, err
}

// Find returns the recording of that name.
func (b *Book) Find(name string) (Info, error) {
	b.mu.Lock()
	t := b.running[name]
	b.mu.Unlock()
	if t != nil {
		return t.now(), nil
	}
	file, err := b.open(name)
	if err != nil {
		return Info{}, err
	}
	defer file.Close()
	return describe(file, name)
}

// Open opens the file of a recording.
func (b *Book) Open(name string) (io.ReadCloser, error) { return b.open(name) }

// Close ends all recordings, and waits for their files until ctx ends.
func (b *Book) Close(ctx context.Context) error {
	b.mu.Lock()
	b.closed = true
	for _, t := range b.running {
		t.end(endShutdown)
	}
	b.mu.Unlock()
	done := make(chan struct{})
	go func() { // ends with the writers, which only write what is queued
		b.writers.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
