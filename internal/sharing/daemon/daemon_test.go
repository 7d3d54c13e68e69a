//go:build unix

package daemon

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/mcp-workbench/mcp-workbench/internal/gateway/front"
	"github.com/mcp-workbench/mcp-workbench/internal/sharing/relay"
	"github.com/mcp-workbench/mcp-workbench/internal/sharing/runtimedir"
	"github.com/mcp-workbench/mcp-workbench/test/mcptest"
)

func TestMain(m *testing.M) {
	mcptest.PlayRole(func(_ string, args []string) int { return playDaemon(args[0], args[1:]) })
	// A program with the race detector would otherwise sleep a second when it ends.
	_ = os.Setenv("GORACE", "atexit_sleep_ms=0")
	goleak.VerifyTestMain(m)
}

// playDaemon is a workbench that answers each line with its process id.
func playDaemon(dir string, rest []string) int {
	key, err := ReadKey(os.Stdin)
	if err != nil {
		fmt.Println(err)
		return 1
	}
	if len(rest) > 0 {
		fmt.Println(rest[0])
		return 1
	}
	listener, err := opened(dir).Listen(SocketName(key))
	if err != nil {
		fmt.Println(err)
		return 1
	}
	if err := errors.Join(ReportReady(os.Stdout), os.Stdout.Close()); err != nil {
		return 1
	}
	err = Serve(context.Background(), ServeOptions{
		Listener: listener, Key: key, Version: "1", Idle: 20 * time.Second, Session: echo, Reload: func() {},
		Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return 1
	}
	return 0
}

func opened(dir string) runtimedir.Dir {
	d, err := runtimedir.Open(func(name string) string {
		if name == "XDG_RUNTIME_DIR" {
			return dir
		}
		return ""
	}, "")
	if err != nil {
		panic(err)
	}
	return d
}

// echo answers each line with what is known of the client.
func echo(ctx context.Context, conn io.ReadWriteCloser, _ *Hello, known front.StdioOptions) error {
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	for lines := bufio.NewScanner(conn); lines.Scan(); {
		if _, err := fmt.Fprintf(conn, "%d %s %v %d %s\n", os.Getpid(), known.Folder, known.Opened, known.LastAsked, lines.Text()); err != nil {
			return err
		}
	}
	return nil
}

func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "wd")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

var testKey = strings.Repeat("ab", 32)

func newTarget(t *testing.T, more ...string) Target {
	t.Helper()
	dir := shortDir(t)
	target := Target{
		Dir: opened(dir), Key: testKey, Log: filepath.Join(dir, "logs", "daemon-x.log"),
		Args: mcptest.RoleArgs("daemon", append([]string{dir}, more...)...), Folder: "/",
	}
	t.Cleanup(func() {
		_ = SendOrder(context.Background(), target.Socket(), target.Key, Stop)
	})
	return target
}

// ask sends a line and returns the answer.
func ask(t *testing.T, conn relay.Conn, line string) string {
	t.Helper()
	if _, err := io.WriteString(conn, line+"\n"); err != nil {
		t.Fatal(err)
	}
	answer, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(answer)
}

func TestFiveAtOnceStartOne(t *testing.T) {
	target := newTarget(t)
	pids := make(chan string, 5)
	var clients sync.WaitGroup
	for range 5 {
		clients.Go(func() {
			conn, err := Connect(t.Context(), target, Hello{})
			if err != nil {
				t.Error(err)
				return
			}
			defer conn.Close()
			pid, _, _ := strings.Cut(ask(t, conn, "x"), " ")
			pids <- pid
		})
	}
	clients.Wait()
	close(pids)
	first := <-pids
	for pid := range pids {
		if pid != first {
			t.Errorf("workbenches %s and %s", first, pid)
		}
	}
}

func TestWorkbenchThatWasKilledIsStartedAgain(t *testing.T) {
	target := newTarget(t)
	conn, err := Connect(t.Context(), target, Hello{})
	if err != nil {
		t.Fatal(err)
	}
	var pid int
	if _, err := fmt.Sscan(ask(t, conn, "x"), &pid); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(conn); err != nil {
		t.Fatal(err)
	}
	conn.Close()
	conn, err = Connect(t.Context(), target, Hello{Folder: "/", Opened: []string{"a"}, LastAsked: 7})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if got := ask(t, conn, "y"); strings.HasPrefix(got, fmt.Sprint(pid)) || !strings.HasSuffix(got, " / [a] 7 y") {
		t.Errorf("it answers %s", got)
	}
}

func TestWorkbenchThatDoesNotStart(t *testing.T) {
	target := newTarget(t, "there is no such toolbox")
	if _, err := Connect(t.Context(), target, Hello{}); err == nil || err.Error() != "there is no such toolbox" {
		t.Errorf("connect: %v", err)
	}
}

func TestWorkbenchThatEndsAtOnce(t *testing.T) {
	target := newTarget(t, "ready")
	if conn, err := Connect(t.Context(), target, Hello{}); err == nil || !IsGone(err) {
		t.Errorf("the connection is %v, error %v", conn, err)
	}
}

func TestReadKey(t *testing.T) {
	if key, err := ReadKey(strings.NewReader(testKey + "\n")); err != nil || key != testKey {
		t.Errorf("%s, %v", key, err)
	}
	for _, text := range []string{"", "abc\n", testKey + "a"} {
		if _, err := ReadKey(strings.NewReader(text)); err == nil {
			t.Errorf("%q is taken for a key", text)
		}
	}
}

// serving serves in this process.
func serving(t *testing.T, idle time.Duration) (socket string, reloads <-chan struct{}, ended <-chan error) {
	t.Helper()
	dir := opened(shortDir(t))
	listener, err := dir.Listen("s")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	reloaded, end, gone := make(chan struct{}, 1), make(chan error, 1), make(chan struct{})
	go func() {
		defer close(gone)
		end <- Serve(ctx, ServeOptions{
			Listener: listener, Key: testKey, Version: "1", Idle: idle, Session: echo,
			Reload: func() { reloaded <- struct{}{} }, Log: slog.New(slog.DiscardHandler),
		})
	}()
	t.Cleanup(func() { cancel(); <-gone })
	return dir.Path("s"), reloaded, end
}

func TestAnotherWorkbenchIsNotJoined(t *testing.T) {
	socket, _, _ := serving(t, time.Hour)
	_, err := Join(t.Context(), socket, Hello{Key: strings.Repeat("cd", 32)})
	if _, refused := errors.AsType[*RefusedError](err); !refused {
		t.Errorf("with another key: %v", err)
	}
	conn, err := Join(t.Context(), socket, Hello{}) // who names none takes any
	if err != nil {
		t.Fatal(err)
	}
	conn.Close()
	raw, err := net.Dial("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	fmt.Fprintln(raw, `{"mcp-workbench":99}`)
	if answer, _ := bufio.NewReader(raw).ReadString('\n'); !strings.Contains(answer, `"refused":"it speaks version 99 of the protocol`) {
		t.Errorf("another version gets %s", answer)
	}
}

func TestOrders(t *testing.T) {
	socket, reloads, ended := serving(t, time.Hour)
	if err := SendOrder(t.Context(), socket, testKey, Reload); err != nil {
		t.Fatal(err)
	}
	<-reloads
	if err := SendOrder(t.Context(), socket, testKey, "dance"); err == nil {
		t.Error("an unknown order was taken")
	}
	conn, err := Join(t.Context(), socket, Hello{Key: testKey})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := SendOrder(t.Context(), socket, testKey, Stop); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(socket); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the socket stays: %v", err)
	}
	if _, err := Join(t.Context(), socket, Hello{}); !IsGone(err) {
		t.Errorf("afterwards: %v", err)
	}
}

func TestIdle(t *testing.T) {
	began := time.Now()
	socket, _, ended := serving(t, 300*time.Millisecond)
	conn, err := Join(t.Context(), socket, Hello{})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		ask(t, conn, "x")
	}
	select {
	case <-ended:
		t.Error("it ended under its client")
	default:
	}
	conn.Close()
	if err := <-ended; err != nil || time.Since(began) < 300*time.Millisecond {
		t.Errorf("it ended after %s: %v", time.Since(began), err)
	}
}

// Whoever is no workbench is not taken for one, and does not hang us.
func TestSocketOfSomethingElse(t *testing.T) {
	for _, says := range []string{"HTTP/1.1 400 Bad Request\r\n\r\n", "{}\n", ""} {
		dir := opened(shortDir(t))
		listener, err := dir.Listen("s")
		if err != nil {
			t.Fatal(err)
		}
		var answering sync.WaitGroup
		answering.Go(func() {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			defer conn.Close()
			_, _ = bufio.NewReader(conn).ReadString('\n')
			_, _ = io.WriteString(conn, says)
		})
		if conn, err := Join(t.Context(), dir.Path("s"), Hello{}); err == nil {
			conn.Close()
			t.Errorf("%q was taken for a workbench", says)
		}
		answering.Wait()
		listener.Close()
	}
}

func TestLogIsBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "logs", "daemon-x.log")
	log, err := OpenLog(path)
	if err != nil {
		t.Fatal(err)
	}
	line := []byte(strings.Repeat("x", 100<<10) + "\n")
	for range 25 {
		if _, err := log.Write(line); err != nil {
			t.Fatal(err)
		}
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{path, path + ".1"} {
		if info, err := os.Stat(name); err != nil || info.Size() > maxLog || info.Size() == 0 || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	old := time.Now().Add(-keptLogs - time.Hour)
	if err := os.Chtimes(path+".1", old, old); err != nil {
		t.Fatal(err)
	}
	log, err = OpenLog(path)
	if err != nil {
		t.Fatal(err)
	}
	log.Close()
	if _, err := os.Stat(path + ".1"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the old log stays: %v", err)
	}
}

// A process in a session of its own does not get what is for our group.
func TestDetached(t *testing.T) {
	cmd := exec.Command("sleep", "60")
	cmd.SysProcAttr = detached()
	if err := cmd.Start(); err != nil {
		t.Skip(err)
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	if group, err := syscall.Getpgid(cmd.Process.Pid); err != nil || group != cmd.Process.Pid {
		t.Errorf("it is in group %d, %v", group, err)
	}
}
