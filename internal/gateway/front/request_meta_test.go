package front

import (
	"bytes"
	"reflect"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// A reader that remembers a declaration reads each request as one that does not, also when the buffer of an earlier
// request was used up.
func TestMetaReader(t *testing.T) {
	declare := func(rest string) string {
		return `"_meta":{"` + protocol.MetaProtocolVersion + `":"2026-07-28","` + protocol.MetaClientCapabilities + `":{"roots":{}}` + rest + `}`
	}
	var reader metaReader
	for i, params := range []string{
		`{` + declare("") + `}`,
		`{"name":"x",` + declare("") + `}`,
		`{` + declare("") + `,"requestState":"s"}`,
		`{` + declare("") + `}`,
		`{` + declare(`,"progressToken":1`) + `}`,
		`{` + declare(`,"progressToken":2`) + `}`,
		`{` + declare("") + `}`,
		`{}`, `[]`, `{"_meta":{}}`, `{"_meta":5}`,
		`{` + declare(`,"`+protocol.MetaLogLevel+`":"info"`) + `}`,
		`{"_meta":{},` + declare("") + `}`,
		`{` + declare("") + `}`,
	} {
		buffer := []byte(params)
		got, want := reader.read(wire.Raw(buffer)), readMetaOf(wire.Raw([]byte(params)))
		if texts := textsOf(got); !reflect.DeepEqual(texts, textsOf(want)) {
			t.Errorf("%d: %s is read as %q, want %q", i, params, texts, textsOf(want))
		}
		copy(buffer, bytes.Repeat([]byte("#"), len(buffer)))
	}
}

func textsOf(meta requestMeta) (all []string) {
	for _, value := range []wire.Payload{meta.state, meta.revision, meta.capabilities, meta.info, meta.level, meta.token, meta.hops} {
		all = append(all, string(value.Bytes()))
	}
	return all
}
