package call

import (
	"testing"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/fleet"
)

// A notification can overtake nothing, but it can come when the response was just passed on. It is not lost then.
func TestNoticeAfterTheResponse(t *testing.T) {
	message := wire.Message{Method: []byte("notifications/vendor/thing"), Params: wire.Raw([]byte(`{"n":1}`))}
	for name, test := range map[string]struct {
		options         fleet.ProfileOptions
		isOver          bool
		direct, outside int
	}{
		"during the call":               {direct: 1},
		"after it":                      {isOver: true, outside: 1},
		"after it, for a modern client": {isOver: true, options: fleet.ProfileOptions{Modern: true}},
	} {
		t.Run(name, func(t *testing.T) {
			client, outside := newCaller(), 0
			test.options.Notice = func(*fleet.Server, wire.Message) { outside++ }
			profile := fleet.NewClientProfile(test.options)
			defer profile.Close()
			r := &run{over: test.isOver}
			r.call.Client = &answerer{caller: client, profile: profile}
			r.Notice(message)
			if len(client.notices) != test.direct || outside != test.outside {
				t.Errorf("%d with the call, %d outside of it", len(client.notices), outside)
			}
		})
	}
}
