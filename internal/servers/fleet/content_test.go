package fleet

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

func TestResultsThatHideTextAreToldOnce(t *testing.T) {
	var log safeBuffer
	r := newRig(t, map[string]string{"S": coldSpec}, nil, Options{Log: slog.New(slog.NewTextHandler(&log, nil))})
	lease, err := r.server(t, "S").Lease(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer lease.Release()
	long := strings.Repeat("x", maxLook)
	for _, look := range []struct{ result, method, name string }{
		{`{"text":"plain 👩‍💻"}`, "tools/call", "plain"},
		{`{"text":"` + long + `\u200b"}`, "tools/call", "late"},
		{`{"text":"a\u200bb"}`, "tools/call", "a"},
		{`{"text":"a\u200bb"}`, "tools/call", "a"},
		{"{\"text\":\"a\u202eb\"}", "tools/call", "b\u200b"},
		{`{"text":"\u001b[1m"}`, "resources/read", "a"},
	} {
		lease.WarnAboutHiddenText(wire.Raw([]byte(look.result)), look.method, look.name)
	}
	var told []string
	for line := range strings.Lines(log.String()) {
		if _, rest, found := strings.Cut(line, "passed on as it is\""); found {
			told = append(told, strings.TrimSpace(rest))
		}
	}
	want := []string{
		"toolbox=T server=S method=tools/call name=a",
		"toolbox=T server=S method=tools/call name=b<U+200B>",
		"toolbox=T server=S method=resources/read name=a",
	}
	if fmt.Sprint(told) != fmt.Sprint(want) {
		t.Errorf("told are %q", told)
	}
	plain := wire.Raw([]byte(`{"content":[{"type":"text","text":"` + strings.Repeat("some text\n", 100) + `"}]}`))
	if n := testing.AllocsPerRun(100, func() { lease.WarnAboutHiddenText(plain, "tools/call", "a") }); n > 0 {
		t.Errorf("looking at a plain result allocates %v times", n)
	}
}

func TestFlagsAreBounded(t *testing.T) {
	var f flags
	for i := range 3 * maxFlags {
		f.isNew(fmt.Sprint(i))
	}
	if len(f.told) > maxFlags {
		t.Errorf("%d are kept", len(f.told))
	}
	if f.isNew(fmt.Sprint(3*maxFlags - 1)) {
		t.Error("the last one is told again")
	}
}
