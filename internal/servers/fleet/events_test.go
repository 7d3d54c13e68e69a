//go:build unix

package fleet

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/servers/catalog"
)

// eventLog is told what happens to servers.
type eventLog struct {
	mu  sync.Mutex
	all []string
}

func (l *eventLog) add(format string, values ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, fmt.Sprintf(format, values...))
}

func (l *eventLog) ServerStarted(toolbox, server string, took time.Duration, err error) {
	l.add("%s/%s started: %t, in some time: %t", toolbox, server, err == nil, took > 0)
}

func (l *eventLog) ServerEnded(toolbox, server string, after time.Duration, crashed bool) {
	l.add("%s/%s ended after some time: %t, by itself: %t", toolbox, server, after > 0, crashed)
}

func (l *eventLog) ServerCrashed(toolbox, server string) { l.add("%s/%s crashed", toolbox, server) }

func (l *eventLog) DefinitionsChanged(toolbox, server string, changes []catalog.Change) {
	l.add("%s/%s changed %d", toolbox, server, len(changes))
}

func TestEvents(t *testing.T) {
	var log eventLog
	r := newRig(t, map[string]string{
		"S": `{"tools":[{"name":"x","description":"a","inputSchema":{}}],"calls":{"crash":[{"exit":7}],
			"x":[{"change":[{"name":"x","description":"b","inputSchema":{}}]},{"result":{"content":[]}}]}}`,
		"broken": `{"start":[{"exit":1}]}`,
	}, nil, Options{Events: &log})
	for name, tools := range map[string][]string{"S": {"x", "crash"}, "broken": {"x"}} {
		for _, tool := range tools {
			_ = call(t.Context(), r.server(t, name), tool) // some fail, as they should
			if tool == "x" && name == "S" {
				eventually(t, "the change", func() bool {
					log.mu.Lock()
					defer log.mu.Unlock()
					return slices.Contains(log.all, "T/S changed 1")
				})
			}
		}
	}
	want := []string{"T/S changed 1", "T/S crashed", "T/S ended after some time: true, by itself: true", "T/S started: true, in some time: true", "T/broken started: false, in some time: true"}
	eventually(t, "all events", func() bool {
		log.mu.Lock()
		defer log.mu.Unlock()
		return slices.Equal(slices.Sorted(slices.Values(log.all)), want)
	})
}
