package daemon

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/base/safefile"
	"github.com/mcp-workbench/mcp-workbench/internal/sharing/relay"
	"github.com/mcp-workbench/mcp-workbench/internal/sharing/runtimedir"
)

// Target is the workbench that a client needs.
type Target struct {
	Dir    runtimedir.Dir
	Key    string
	Log    string   // path of its log file
	Args   []string // arguments that make this program that workbench
	Folder string   // its working folder
}

// Time limits for finding a workbench.
const (
	connectTime = 20 * time.Second // to find or start the shared workbench; then the client is served by its own process
	startTime   = 15 * time.Second // for a new workbench to listen; then its start has failed
	lockTime    = 17 * time.Second // for another process that is starting one
	maxStarts   = 3                // attempts to start one; then the client is served by its own process
)

// SocketName is the name of the socket of the workbench with a key. The key itself is sent with the
// hello.
func SocketName(key string) string { return "d-" + key[:16] + ".sock" }

const lockName = "start.lock"

// Connect opens a session with the workbench, which it starts if needed. Of several concurrent
// callers, one starts it. It blocks for a bounded time.
func Connect(ctx context.Context, t Target, hello Hello) (relay.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, connectTime)
	defer cancel()
	hello.Key = t.Key
	conn, err := Join(ctx, t.Socket(), hello)
	if err == nil || !IsGone(err) {
		return conn, err
	}
	release, err := safefile.Lock(ctx, t.Dir.Path(lockName), lockTime)
	if err != nil {
		return nil, fmt.Errorf("waiting for another process that starts it: %w", err)
	}
	defer release()
	for range maxStarts {
		if conn, err = Join(ctx, t.Socket(), hello); err == nil || !IsGone(err) {
			return conn, err
		}
		if err := t.start(ctx); err != nil {
			return nil, err
		}
	}
	return Join(ctx, t.Socket(), hello)
}

// Socket is the path of the workbench's socket.
func (t Target) Socket() string { return t.Dir.Path(SocketName(t.Key)) }

// IsGone reports whether an error of Join means that the workbench does not run, or no longer.
func IsGone(err error) bool { return runtimedir.IsAbsent(err) || errors.Is(err, errEnding) }

// Join opens a session with the workbench that listens on a socket.
func Join(ctx context.Context, path string, hello Hello) (relay.Conn, error) {
	conn, err := runtimedir.Dial(ctx, path)
	if err != nil {
		return nil, err
	}
	if err := openSession(conn, hello); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return conn.(*net.UnixConn), nil
}

// awaitPause is the pause between two attempts to connect to a starting workbench.
const awaitPause = 100 * time.Millisecond

// Await is Join with a time limit for a workbench that does not listen yet.
func Await(ctx context.Context, path string, limit time.Duration, hello Hello) (relay.Conn, error) {
	waiting, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	again := time.NewTicker(awaitPause)
	defer again.Stop()
	for {
		conn, err := Join(ctx, path, hello)
		if err == nil || !IsGone(err) {
			return conn, err
		}
		select {
		case <-again.C:
		case <-waiting.Done():
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			return nil, err
		}
	}
}

// SendOrder sends an order to a workbench.
func SendOrder(ctx context.Context, path, key string, order Order) error {
	conn, err := Join(ctx, path, Hello{Key: key, Order: order})
	if err != nil {
		return err
	}
	return conn.Close()
}

// ready is the output of a workbench that listens. Any other output is an error message.
const ready = "ready\n"

// ReportReady reports to the process that started this program that it listens.
func ReportReady(out io.Writer) error {
	_, err := io.WriteString(out, ready)
	return err
}

// ReadKey reads the key that this program was started for.
func ReadKey(in io.Reader) (string, error) {
	text, err := io.ReadAll(io.LimitReader(in, maxReason))
	key := strings.TrimSpace(string(text))
	if err == nil && len(key) != hex.EncodedLen(sha256.Size) {
		err = errors.New("this command is not for people: mcp-workbench --shared starts it")
	}
	return key, err
}

// maxReason is the size of the quoted output of a workbench that did not start, in bytes.
const maxReason = 4 << 10

// start starts this program as a separate workbench, which outlives this process, and waits until it listens.
func (t Target) start(ctx context.Context) error {
	executable, err := os.Executable()
	if err != nil {
		return err
	}
	output, theirs, err := os.Pipe()
	if err != nil {
		return err
	}
	defer output.Close()
	cmd := exec.Command(executable, t.Args...)
	cmd.Dir, cmd.Stdout, cmd.SysProcAttr = t.Folder, theirs, detached()
	// Other users can see command lines, and the key is derived from secrets, too.
	cmd.Stdin = strings.NewReader(t.Key + "\n")
	if log, err := openLog(t.Log); err == nil { // for the runtime's output of a crash
		cmd.Stderr = log
		defer log.Close()
	}
	err = cmd.Start()
	_ = theirs.Close()
	if err != nil {
		return err
	}
	go func() { _ = cmd.Wait() }() // it outlives this process, or must not stay a zombie
	heard := make(chan string, 1)
	go func() { // ends with the pipe, which is closed above at the latest
		text, _ := io.ReadAll(io.LimitReader(output, maxReason))
		heard <- string(text)
	}()
	patience := time.NewTimer(startTime)
	defer patience.Stop()
	select {
	case text := <-heard:
		if text == ready {
			return nil
		}
		return startError(text)
	case <-patience.C:
		return fmt.Errorf("it does not listen after %s", startTime)
	case <-ctx.Done():
		return ctx.Err()
	}
}

func startError(text string) error {
	if text = strings.TrimSpace(text); text != "" {
		return errors.New(text)
	}
	return errors.New("it ended at once")
}
