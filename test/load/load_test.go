package load

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/mcp-workbench/mcp-workbench/test/mcptest"
	"github.com/mcp-workbench/mcp-workbench/test/processtable"
)

// maxMemory is what the workbench may have resident, however many clients there are.
const maxMemory = 256 << 20

// patience is for one answer. Nothing is measured with it: what takes longer hangs.
const patience = 2 * time.Minute

// TestManyClients makes calls of many clients at once, all of whom use the same request
// ids. LOAD_CLIENTS and LOAD_CALLS say how many, and how many calls each makes.
func TestManyClients(t *testing.T) {
	clients, calls := number(t, "LOAD_CLIENTS", 50), number(t, "LOAD_CALLS", 200)
	workbench := serve(t)
	results := make([]result, clients)
	var work sync.WaitGroup
	begun := time.Now()
	for i := range clients {
		work.Go(func() { results[i] = run(workbench.Address, i, calls) })
	}
	work.Wait()
	report(t, results, calls, time.Since(begun), processtable.PeakMemory(workbench.PID))
	if t.Failed() {
		t.Logf("stderr of the workbench:\n%s", workbench.Stderr)
	}
}

func number(t *testing.T, name string, otherwise int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("%s is %q; want a number", name, text)
	}
	return n
}

// result is what became of one client.
type result struct {
	took  []time.Duration // of each call that was answered rightly
	wrong []string        // what was not as it must be
}

func (r *result) fail(format string, args ...any) {
	r.wrong = append(r.wrong, fmt.Sprintf(format, args...))
}

// run is one client: it opens the toolbox, makes its calls and looks at all that it was
// sent.
func run(address string, number, calls int) (r result) {
	client := mcptest.NewHTTPClient(address, nil)
	defer client.Close()
	if answer, err := request(func(ctx context.Context) (mcptest.Message, error) { return client.Initialize(ctx, "2025-11-25") }); err != nil || answer.Result == nil {
		r.fail("client %d: initialize: %.300s %v %v", number, answer.Raw, answer.Bad, err)
		return r
	}
	if answer, err := call(client, `{"name":"open_toolbox","arguments":{"toolbox":"box"}}`); err != nil || answer.Result == nil {
		r.fail("client %d: open: %.300s %v %v", number, answer.Raw, answer.Bad, err)
		return r
	}
	for i := range calls {
		marker := fmt.Sprintf("client %d call %d", number, i)
		begun := time.Now()
		answer, err := call(client, fmt.Sprintf(`{"name":"use_tool","_meta":{"progressToken":%q},"arguments":{`+
			`"tool":{"toolbox":"box","server":%q,"name":"echo"},"arguments":{"marker":%q}}}`, marker, servers[i%len(servers)], marker))
		if want := answerOf(marker); err != nil || string(answer.Result) != want {
			r.fail("%s: %.300s %v %v; want %s", marker, answer.Raw, answer.Bad, err, want)
			continue
		}
		r.took = append(r.took, time.Since(begun))
	}
	r.check(client.Received(), number, calls)
	return r
}

// answerOf is what the server answers to a call with that marker.
func answerOf(marker string) string {
	text, _ := json.Marshal(fmt.Sprintf(`echo {"marker":%q}`, marker)) // a string can be encoded
	return fmt.Sprintf(`{"content":[{"type":"text","text":%s}]}`, text)
}

func call(client *mcptest.HTTPClient, params string) (mcptest.Message, error) {
	return request(func(ctx context.Context) (mcptest.Message, error) { return client.Request(ctx, "tools/call", params) })
}

func request(do func(context.Context) (mcptest.Message, error)) (mcptest.Message, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return do(ctx)
}

// check looks at everything that a client was sent: its own progress, each before its
// answer, and nothing of anybody else.
func (r *result) check(received []mcptest.Message, number, calls int) {
	expected := 0 // the call whose progress comes next
	answers := 0
	for _, message := range received {
		switch {
		case message.Bad != nil:
			r.fail("client %d: no message: %.300s %v", number, message.Raw, message.Bad)
		case message.Method == "":
			answers++
		case message.Method == "notifications/progress":
			want := fmt.Sprintf(`{"progressToken":"client %d call %d","progress":1}`, number, expected)
			if string(message.Params) != want || answers != expected+2 {
				r.fail("client %d: progress %s after %d answers; want %s", number, message.Params, answers, want)
			}
			expected++
		default:
			r.fail("client %d was sent %.300s", number, message.Raw)
		}
	}
	if answers != calls+2 || expected != calls {
		r.fail("client %d: %d answers and %d progress notifications for %d calls", number, answers, expected, calls)
	}
}

// report prints the figures, and fails for what is wrong; never for the time it took.
func report(t *testing.T, results []result, calls int, took time.Duration, memory int) {
	t.Helper()
	var all []time.Duration
	var wrong []string
	for _, r := range results {
		all, wrong = append(all, r.took...), append(wrong, r.wrong...)
	}
	slices.Sort(all)
	at := func(share float64) time.Duration {
		if len(all) == 0 {
			return 0
		}
		return all[int(share*float64(len(all)-1))].Round(10 * time.Microsecond)
	}
	fmt.Printf("load: %d clients, %d calls right of %d, %.0f calls per second, p50 %s, p99 %s, peak memory %d MiB, %d failures\n",
		len(results), len(all), len(results)*calls, float64(len(all))/took.Seconds(), at(0.5), at(0.99), memory>>20, len(wrong))
	for _, text := range wrong[:min(10, len(wrong))] {
		t.Error(text)
	}
	if len(all) != len(results)*calls {
		t.Errorf("%d calls were answered rightly; want %d", len(all), len(results)*calls)
	}
	if memory > maxMemory {
		t.Errorf("%d MiB were resident; want at most %d", memory>>20, maxMemory>>20)
	}
}
