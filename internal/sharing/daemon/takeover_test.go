//go:build unix

package daemon

import (
	"context"
	"io"
	"log/slog"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/gateway/front"
	"github.com/mcp-workbench/mcp-workbench/internal/sharing/runtimedir"
)

func TestTakeOver(t *testing.T) {
	own, other := strings.Repeat("a", 64), strings.Repeat("b", 64)
	for _, test := range []struct {
		name             string
		version, lineage string // of the running one
		clients          int
		says             string // "": nothing
		ends             bool
	}{
		{"older and idle", "0.9.0", "x", 0, "was used by nobody, and is replaced by version 1.0.0", true},
		{"the same version in another build", "1.0.0", "x", 0, "of another build of version 1.0.0 (process ", true},
		{"older and in use", "0.9.0", "x", 1, "still serves 1 client; it is replaced by version 1.0.0", false},
		{"newer", "1.10.0", "x", 0, "is newer than this program (1.0.0)", false},
		{"of another configuration", "0.9.0", "y", 0, "", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			folder, err := os.MkdirTemp("/tmp", "wb") // a socket's name has to be short
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = os.RemoveAll(folder) }()
			dir, err := runtimedir.Open(func(string) string { return "" }, folder)
			if err != nil {
				t.Fatal(err)
			}
			listener, err := dir.Listen(SocketName(other))
			if err != nil {
				t.Fatal(err)
			}
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			served := make(chan error, 1)
			go func() {
				served <- Serve(ctx, ServeOptions{
					Listener: listener, Key: other, Lineage: test.lineage, Version: test.version, Idle: time.Hour, Log: slog.New(slog.DiscardHandler),
					Session: func(_ context.Context, conn io.ReadWriteCloser, _ *Hello, _ front.StdioOptions) error {
						_, err := io.Copy(io.Discard, conn)
						return err
					},
				})
			}()
			var clients []io.Closer
			for range test.clients {
				client, err := Join(ctx, dir.Path(SocketName(other)), Hello{Key: other})
				if err != nil {
					t.Fatal(err)
				}
				clients = append(clients, client)
			}
			found := TakeOver(ctx, Target{Dir: dir, Key: own}, "1.0.0", "x")
			if test.says == "" && len(found) > 0 || test.says != "" && (len(found) != 1 || !strings.Contains(found[0].String(), test.says)) {
				t.Errorf("%v, want %q", found, test.says)
			}
			if !test.ends {
				if err := SendOrder(ctx, dir.Path(SocketName(other)), other, Reload+"x"); err == nil || IsGone(err) {
					t.Errorf("it has ended: %v", err)
				}
			}
			for _, client := range clients { // with the last one it ends, too
				if err := client.Close(); err != nil {
					t.Error(err)
				}
			}
			if !test.ends && test.clients == 0 {
				stop()
			}
			if err := <-served; err != nil {
				t.Error(err)
			}
		})
	}
}

// A workbench that hangs keeps neither the others from ending nor the client waiting.
func TestTakeOverAmongOthersThatHang(t *testing.T) {
	folder, err := os.MkdirTemp("/tmp", "wb")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(folder) }()
	dir, err := runtimedir.Open(func(string) string { return "" }, folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"0", "1", "2"} { // they are asked first
		hanging, err := dir.Listen(SocketName(strings.Repeat(name, 64)))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = hanging.Close() }()
	}
	old := strings.Repeat("b", 64)
	listener, err := dir.Listen(SocketName(old))
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() {
		served <- Serve(t.Context(), ServeOptions{Listener: listener, Key: old, Lineage: "x", Version: "0.9.0", Idle: time.Hour, Log: slog.New(slog.DiscardHandler)})
	}()
	if found := TakeOver(t.Context(), Target{Dir: dir, Key: strings.Repeat("a", 64)}, "1.0.0", "x"); len(found) != 1 || found[0].Version != "0.9.0" {
		t.Errorf("found %v", found)
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
}

// A workbench with another version of the protocol can be asked to retire, and otherwise says what is wrong.
func TestRetireIsUnderstoodInEveryVersion(t *testing.T) {
	near, far := socketPair(t)
	s := &server{options: ServeOptions{Lineage: "x", Version: "1.0.0", Log: slog.New(slog.DiscardHandler)}, changed: make(chan struct{}, 1)}
	go s.receive(t.Context(), far)
	if err := writeLine(near, Hello{Protocol: helloVersion + 1, Order: Retire, Version: "2.0.0", Lineage: "x"}); err != nil {
		t.Fatal(err)
	}
	var answer welcome
	if err := readLine(near, &answer); err != nil || answer.Kin != retiring {
		t.Errorf("%+v, %v", answer, err)
	}
	near, far = socketPair(t)
	go s.receive(t.Context(), far)
	if err := writeLine(near, Hello{Protocol: helloVersion + 1}); err != nil {
		t.Fatal(err)
	}
	if err := readLine(near, &answer); err != nil || !strings.Contains(answer.Refused, "it speaks version 2 of the protocol, and this workbench (1.0.0) version 1") {
		t.Errorf("%+v, %v", answer, err)
	}
}

func TestCompareVersions(t *testing.T) {
	order := []string{"", "0.1.0-dev", "0.1.0-rc.1", "0.1.0", "0.9.0", "0.10.0", "v1.0.0", "1.0.1"}
	for i, a := range order {
		for j, b := range order {
			if got := compareVersions(a, b); (got < 0) != (i < j) || (got > 0) != (i > j) {
				t.Errorf("%q and %q: %d", a, b, got)
			}
		}
	}
}

// socketPair returns two ends of a connection between sockets.
func socketPair(t *testing.T) (near, far net.Conn) {
	t.Helper()
	folder, err := os.MkdirTemp("/tmp", "wb")
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("unix", folder+"/s")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	defer func() { _ = listener.Close() }()
	if near, err = net.Dial("unix", folder+"/s"); err != nil {
		t.Fatal(err)
	}
	if far, err = listener.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = near.Close() })
	return near, far
}
