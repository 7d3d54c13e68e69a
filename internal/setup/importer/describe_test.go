package importer

import (
	"testing"

	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/configwrite"
)

func TestGeneratedDescriptionsFollow(t *testing.T) {
	files := rules[9].description
	for _, test := range []struct{ name, before, after, had, want string }{
		{"added", `"a": {}`, `"a": {}, "b": {}`, "Tools of a", "Tools of a, b"},
		{"removed", `"a": {}, "b": {}`, `"b": {}`, "Further tools (a, b)", "Further tools (b)"},
		{"renamed", `"a": {}`, `"c": {}`, files + " (a)", files + " (c)"},
		{"disabled", `"a": {}, "b": {}`, `"a": {"disabled": true}, "b": {}`, "Tools (a, b)", "Tools (b)"},
		{"all disabled", `"a": {}, "b": {"disabled": true}`, `"a": {"disabled": true}, "b": {"disabled": true}`, "Tools of a", "Tools of a, b"},
		{"enabled", `"a": {"disabled": true}, "b": {}`, `"a": {}, "b": {}`, "Tools (b)", "Tools (a, b)"},
		{"none left", `"a": {}`, ``, files + " (a)", files},
		{"the first again", ``, `"a": {}`, files, files + " (a)"},
		{"one was added by hand", `"a": {}, "b": {}`, `"a": {}, "b": {}, "c": {}`, "Tools of a", "Tools of a, b, c"},
		{"names with commas", `"a, b": {}`, `"a, b": {}, "c": {}`, "Tools of a, b", "Tools of a, b, c"},

		{"a person's own", `"a": {}`, `"a": {}, "b": {}`, "Mine", "Mine"},
		{"a person's own topic", `"a": {}`, `"a": {}, "b": {}`, "My things (a)", "My things (a)"},
		{"a person added words", `"a": {}`, `"a": {}, "b": {}`, "Tools of a, and more", "Tools of a, and more"},
		{"a person added words behind", `"a": {}`, `"a": {}, "b": {}`, "Tools (a) for x", "Tools (a) for x"},
		{"none", `"a": {}`, `"a": {}, "b": {}`, "", ""},
		{"a topic alone", `"a": {}`, `"a": {}, "b": {}`, files, files},
		{"the same servers", `"a": {"x": 1}, "b": {"disabled": true}`, `"a": {}, "b": {"disabled": true}`, "Tools of a, b", "Tools of a, b"},
	} {
		t.Run(test.name, func(t *testing.T) {
			file := func(servers string) []byte {
				return []byte(`{"toolboxes": {"t": {"description": "` + test.had + `", "mcpServers": {` + servers + `}}}}`)
			}
			outline := func(data []byte) *config.Preview {
				t.Helper()
				preview, err := config.Draft("/x", data, nil).Preview(nil)
				if err != nil {
					t.Fatal(err)
				}
				return preview
			}
			before := outline(file(test.before))
			for _, chosen := range [][]string{nil, {"t"}} {
				data, err := followServers("/x", before, configwrite.Content{Data: file(test.after)}, chosen)
				if err != nil {
					t.Fatal(err)
				}
				want := test.want
				if chosen != nil {
					want = test.had
				}
				if got := outline(data).Toolboxes[0].Description; got != want {
					t.Errorf("%q, want %q", got, want)
				}
			}
		})
	}
}

// A description that a person chose in the same edit is not replaced.
func TestChosenDescriptionsStay(t *testing.T) {
	before, err := config.Draft("/x", []byte(`{"toolboxes": {"t": {"description": "Tools of a", "mcpServers": {"a": {}}}}}`), nil).Preview(nil)
	if err != nil {
		t.Fatal(err)
	}
	next := `{"toolboxes": {"t": {"description": "Mine", "mcpServers": {"a": {}, "b": {}}}}}`
	data, err := followServers("/x", before, configwrite.Content{Data: []byte(next)}, nil)
	if err != nil || string(data) != next {
		t.Errorf("%v\n%s", err, data)
	}
}
