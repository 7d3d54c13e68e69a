package downstream

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// logging is a legacy server that answers a level only when it is told to, with an answer
// that it is given.
func logging(t *testing.T) (session *Session, asked chan string, answers chan string) {
	t.Helper()
	asked, answers = make(chan string, 10), make(chan string, 10)
	serverIn, stdin := io.Pipe()
	stdout, serverOut := io.Pipe()
	go func() {
		defer serverOut.Close()
		reader := wire.NewReader(serverIn, 0)
		for {
			frame, err := reader.Next()
			if err != nil {
				return
			}
			reply, line := "", string(frame.Bytes())
			switch {
			case strings.Contains(line, `"server/discover"`):
				reply = noProbe
			case strings.Contains(line, `"initialize"`):
				reply = strings.Replace(ready, `"tools":{}`, `"logging":{}`, 1)
			case strings.Contains(line, `"logging/setLevel"`):
				asked <- line
				if reply = <-answers; reply == "" {
					continue
				}
			default:
				continue
			}
			if _, err := io.WriteString(serverOut, reply+"\n"); err != nil {
				return
			}
		}
	}()
	session, err := Connect(t.Context(), Options{Stdin: stdin, Stdout: stdout})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(session.Close)
	return session, asked, answers
}

func TestAskForLogsWaitsForTheAnswer(t *testing.T) {
	for _, test := range []struct{ name, answer string }{
		{"taken", `{"jsonrpc":"2.0","id":2,"result":{}}`},
		{"refused", `{"jsonrpc":"2.0","id":2,"error":{"code":-32602,"message":"m"}}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				session, asked, answers := logging(t)
				over := make(chan struct{}, 2)
				for range 2 { // the second one finds it done
					go func() {
						session.AskForLogs(t.Context(), "info")
						over <- struct{}{}
					}()
				}
				synctest.Wait()
				if len(asked) != 1 || len(over) != 0 {
					t.Fatalf("asked %d times, and %d went on before the answer", len(asked), len(over))
				}
				answers <- test.answer
				synctest.Wait()
				if len(asked) != 1 || len(over) != 2 {
					t.Fatalf("asked %d times, and %d of 2 went on", len(asked), len(over))
				}
				if !session.SendsLogs("info") || !session.SendsLogs("error") || session.SendsLogs("debug") {
					t.Error("what was asked for is not known afterwards")
				}
			})
		})
	}
}

func TestAskForLogsGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		session, _, answers := logging(t)
		answers <- "" // it stays silent
		began := time.Now()
		session.AskForLogs(t.Context(), "info")
		if took := time.Since(began); took != levelTime || !session.SendsLogs("info") {
			t.Errorf("went on after %s, want %s; and it must not be asked again", took, levelTime)
		}
		answers <- ""
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(errors.New("enough")) })
		session.AskForLogs(ctx, "debug")
		if session.SendsLogs("debug") {
			t.Error("a question that was given up counts as asked")
		}
	})
}
