package e2e

import (
	"path/filepath"
	"testing"
)

// A recording of a server of npm is played again where there is no Node.
func TestReplayWithoutNode(t *testing.T) {
	t.Parallel()
	b := newBench(t, "")
	peer := npmServer(t, "everything")
	file := filepath.Join(t.TempDir(), "session.jsonl")
	questions := []struct{ method, params string }{
		{"tools/list", `{}`},
		{"tools/call", `{"name":"echo","arguments":{"message":"Ada"}}`},
		{"tools/call", `{"name":"get-sum","arguments":{"a":2,"b":3}}`},
		{"resources/list", `{}`},
		{"prompts/get", `{"name":"simple-prompt"}`},
	}
	record := b.run(append([]string{"record", file, "--", peer.command}, peer.args...)...)
	var recorded [][]byte
	c := dial(t, b.mark, record)
	recorded = append(recorded, c.initialize(newest))
	for _, q := range questions {
		recorded = append(recorded, c.request(q.method, q.params))
	}
	if err := c.close(); err != nil {
		t.Fatal(err)
	}

	replay := b.run("replay", file)
	replay.Env = []string{b.mark.env(), "PATH=" + t.TempDir()}
	c = dial(t, b.mark, replay)
	replayed := [][]byte{c.initialize("2024-11-05")}
	for _, q := range questions {
		replayed = append(replayed, c.request(q.method, q.params))
	}
	for i := range recorded {
		if string(replayed[i]) != string(recorded[i]) || len(recorded[i]) < 20 {
			t.Errorf("answer %d:\ngot  %.500s\nwant %.500s", i, replayed[i], recorded[i])
		}
	}
}
