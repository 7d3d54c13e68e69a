package wire

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
)

func TestGrabHasRoom(t *testing.T) {
	for _, n := range []int{1, 100, 1<<13 - 1, 1 << 13, 1<<13 + 1, 1 << 14, 1<<14 + 1, 70_000, 1 << 20, 1 << 22, 1<<22 + 1} {
		for range 3 {
			buffer := grab(n)
			if len(buffer) != 0 || cap(buffer) < n {
				t.Errorf("for %d bytes there is %d of %d", n, len(buffer), cap(buffer))
			}
			recycle(buffer[:cap(buffer)][min(10, cap(buffer)):]) // it has lost a little
		}
	}
}

// Messages of all sizes that go through memory that is used again and again stay what they
// are, whoever else writes at the same time.
func TestSpentMemoryIsNotMixedUp(t *testing.T) {
	const clients, messages = 4, 60
	var all sync.WaitGroup
	for client := range clients {
		all.Go(func() {
			in, out, err := os.Pipe()
			if err != nil {
				t.Error(err)
				return
			}
			defer in.Close()
			back, forth, err := os.Pipe()
			if err != nil {
				t.Error(err)
				return
			}
			defer back.Close()
			all.Go(func() { forwardSpent(t, in, forth) })
			text := func(i int) string {
				return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"text":"%s"}}`, i, strings.Repeat(string(rune('a'+(i+client)%26)), (i%7)*30_000))
			}
			all.Go(func() {
				defer out.Close()
				for i := range messages {
					if _, err := io.WriteString(out, text(i)+"\n"); err != nil {
						t.Error(err)
					}
				}
			})
			reader := NewReader(back, 0)
			for i := range messages {
				frame, err := reader.Next()
				want := strings.Replace(text(i), `"id":`, `"id":1`, 1)
				if err != nil || string(frame.Bytes()) != want {
					t.Errorf("client %d, message %d: %v, %.80s", client, i, err, frame.Bytes())
					return
				}
			}
		})
	}
	all.Wait()
}

// forwardSpent does what the workbench does with an answer.
func forwardSpent(t *testing.T, in io.Reader, out *os.File) {
	writer := NewWriter(out, 1<<20)
	reader := NewReader(in, 0)
	for {
		frame, err := reader.Next()
		if err != nil {
			break
		}
		message, err := Parse(frame)
		if err != nil {
			t.Error(err)
			break
		}
		id := append([]byte("1"), bytes.Clone(message.ID.Bytes())...)
		wrapped := message.Result.Wrap(AppendResultPrefix(nil, id), []byte(Suffix))
		if err := writer.WriteOwned(context.Background(), wrapped); err != nil {
			t.Error(err)
			break
		}
	}
	if err := writer.Close(context.Background()); err != nil {
		t.Error(err)
	}
	out.Close()
}
