package diff

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// crowd is how many clients use one workbench at once, each with so many questions.
const (
	crowd          = 6
	crowdQuestions = 4
)

// A server asks many clients at once, and every question is answered by the client whose call it
// belongs to. On one pipe a question does not say which call that is: the first one that could be
// anybody's is refused, and then every client gets a session of its own. So each client can lose
// the one question that it has open at that moment, and never gets that of another.
func TestQuestionsReachTheClientWhoseCallTheyBelongTo(t *testing.T) {
	for _, below := range []struct {
		name    string
		refused int // questions that a client may lose
		server  func(t *testing.T) map[string]any
	}{
		{"stdio", 1, func(*testing.T) map[string]any { return localFake(legacyEra) }},
		{"HTTP", 0, func(t *testing.T) map[string]any { return map[string]any{"url": serveHTTP(t, legacyEra)} }},
		{"SSE", 1, func(t *testing.T) map[string]any { return map[string]any{"url": serveSSE(t), "transport": "sse"} }},
	} {
		t.Run(below.name, func(t *testing.T) {
			url, end := startWorkbench(t, workbenchCommand(t, below.server(t), serve...))
			t.Cleanup(end)
			for number := range crowd {
				t.Run(fmt.Sprintf("client %d", number), func(t *testing.T) {
					t.Parallel()
					oneOfTheCrowd(t, dialHTTP(t, url, func() {}), number, below.refused)
				})
			}
		})
	}
}

func oneOfTheCrowd(t *testing.T, l link, number, mayLose int) {
	t.Helper()
	steps := append(hello(newest, `{"elicitation":{},"sampling":{}}`), step{name: "list tools", method: "tools/list", list: "tools"})
	for i := range crowdQuestions {
		steps = append(steps, ask(fmt.Sprintf("question %d", i), "elicitation/create",
			fmt.Sprintf(`{"message":"of client %d, number %d","requestedSchema":{"type":"object","properties":{}}}`, number, i),
			reply{body: fmt.Sprintf(`"result":{"action":"accept","content":{"client":%d,"number":%d}}`, number, i)}))
	}
	got := session(t, l, oddIDs, steps, func(step) time.Duration { return patience })
	lost := 0
	for i := range crowdQuestions {
		seen := got[fmt.Sprintf("question %d", i)]
		question := fmt.Sprintf(`question elicitation/create {"message":"of client %d, number %d"`, number, i)
		answer := fmt.Sprintf(`"answer":{"result":{"action":"accept","content":{"client":%d,"number":%d}}}}`, number, i)
		if len(seen.inOrder) == 1 && strings.Contains(seen.inOrder[0], `"answer":{"error":{"code":-32603,"message":"Several clients use this session`) {
			lost++
			continue
		}
		if len(seen.inOrder) != 2 || !strings.HasPrefix(seen.inOrder[0], question) || !strings.HasSuffix(seen.inOrder[1], answer) {
			t.Errorf("question %d: %s", i, seen.describe())
		}
	}
	if lost > mayLose {
		t.Errorf("%d questions were refused, and at most %d may be", lost, mayLose)
	}
	if left, ok := got[unexpected]; ok {
		t.Errorf("more came: %s", left.describe())
	}
}
