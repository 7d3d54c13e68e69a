package config

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"
	"github.com/tailscale/hujson"
)

var update = flag.Bool("update", false, "write the golden files")

func TestSchemaGolden(t *testing.T) {
	golden := filepath.Join("testdata", "schema.json")
	if *update {
		if err := os.WriteFile(golden, Schema(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	want = []byte(strings.ReplaceAll(string(want), "\r\n", "\n"))
	if diff := cmp.Diff(string(want), string(Schema())); diff != "" {
		t.Errorf("the schema changed; run the test with -update and review (-want +got):\n%s", diff)
	}
}

func resolveSchema(t *testing.T) *jsonschema.Resolved {
	t.Helper()
	var schema jsonschema.Schema
	if err := json.Unmarshal(Schema(), &schema); err != nil {
		t.Fatal(err)
	}
	resolved, err := schema.Resolve(&jsonschema.ResolveOptions{ValidateDefaults: true})
	if err != nil {
		t.Fatal(err)
	}
	return resolved
}

// validate reports what the schema thinks of a file.
func validate(t *testing.T, schema *jsonschema.Resolved, file string) error {
	t.Helper()
	standard, err := hujson.Standardize([]byte(file + "\n"))
	if err != nil {
		t.Fatal(err)
	}
	var value any
	if err := json.Unmarshal(standard, &value); err != nil {
		t.Fatal(err)
	}
	return schema.Validate(value)
}

func TestSchemaAndParseAccept(t *testing.T) {
	schema := resolveSchema(t)
	for _, file := range []string{
		everything, string(defaultFile), `{"toolboxes": {}}`,
		`{"toolboxes": {}, "maxMessageSize": 4096, "logLevel": "${LEVEL:-info}", "timeouts": {"call": "${CALL:-1m}", "connect": "1h1.5m", "idle": "0"}}`,
		`{"toolboxes": {}, "http": {"listen": "[::1]:0", "allowedHosts": ["${HOST:-a.example.com}", "[::1]"], "allowedOrigins": ["http://localhost:6274"], "tls": {"cert": "/c", "key": "k"}}}`,
		server(`{"command": "x", "timeouts": {"connect": "100ms"}, "inheritEnv": ["A_*", "B"]}`),
		server(`{"url": "https://example.com", "transport": "sse"}`),
		server(`{"builtin": "clock"}`),
	} {
		if err := validate(t, schema, file); err != nil {
			t.Errorf("the schema refuses %s: %v", file, err)
		}
		parse(t, file, "WHAT=tools", "ABSOLUTE=/srv")
	}
}

func TestSchemaAndParseRefuse(t *testing.T) {
	schema := resolveSchema(t)
	for _, file := range []string{
		`[]`, `{}`, `{"toolboxes": []}`, `{"toolboxes": {"T": {}}}`, `{"toolboxes": {"": {"mcpServers": {}}}}`,
		`{"toolboxes": {}, "toolMode": "x"}`, `{"toolboxes": {}, "maxMessageSize": true}`, `{"toolboxes": {}, "maxMessageSize": "much"}`,
		`{"toolboxes": {}, "timeouts": {"call": 5}}`, `{"toolboxes": {}, "timeouts": {"call": "5"}}`,
		`{"toolboxes": {}, "http": []}`, `{"toolboxes": {}, "http": {"oauth": {"issuer": "https://i", "toolboxes": {"a": []}}}}`, `{"toolboxes": {}, "http": {"limits": {"calls": "3"}}}`,
		`{"toolboxes": {}, "http": {"tls": {"cert": "c", "key": "k", "clientCa": "a", "clients": {"x": "dev"}}}}`, server(`{"command": "x", "instances": "per-call"}`), `{"toolboxes": {}, "http": {"listen": 7420}}`, `{"toolboxes": {}, "http": {"listen": "localhost"}}`,
		`{"toolboxes": {}, "http": {"allowedHosts": "x"}}`, `{"toolboxes": {}, "http": {"allowedHosts": ["*"]}}`, `{"toolboxes": {}, "http": {"allowedOrigins": ["*"]}}`,
		`{"toolboxes": {}, "http": {"allowedOrigins": ["https://x/"]}}`, `{"toolboxes": {}, "http": {"tls": {"cert": "c"}}}`, `{"toolboxes": {}, "http": {"sessionIdle": 60}}`,
		server(`{}`), server(`[]`), server(`{"command": ""}`), server(`{"command": "x", "url": "http://x"}`), server(`{"builtin": "x"}`),
		server(`{"command": "x", "args": [1]}`), server(`{"command": "x", "args": {}}`), server(`{"command": "x", "env": {"A": 1}}`),
		server(`{"command": "x", "transport": "x"}`), server(`{"command": "x", "disabled": "true"}`), server(`{"command": "x", "inheritEnv": [""]}`),
	} {
		if validate(t, schema, file) == nil {
			t.Errorf("the schema accepts %s", file)
		}
		problems(t, file)
	}
}

func TestEveryKeyIsDescribed(t *testing.T) {
	var walk func(o *object)
	walk = func(o *object) {
		for _, k := range o.keys {
			if !strings.HasSuffix(k.description, ".") || len(k.kinds) == 0 {
				t.Errorf("key %q has no full description", k.name)
			}
			for _, text := range []string{k.example, k.fallback} {
				if text != "" && !json.Valid([]byte(text)) {
					t.Errorf("key %q: %s is not JSON", k.name, text)
				}
			}
			if k.members != nil {
				walk(k.members)
			}
			if k.entries != nil && k.entries.object != nil {
				walk(k.entries.object)
			}
		}
	}
	walk(&rootObject)
	if strings.Contains(string(Schema()), `\u00`) {
		t.Error("the schema holds characters that encoding/json escapes")
	}
}

// The defaults in the schema are what an empty file means.
func TestSchemaDefaultsHold(t *testing.T) {
	fallback := func(o object, name string) string { return `"` + name + `": ` + o.key(name).fallback }
	file := `{"toolboxes": {"T": {"description": "d", "mcpServers": {"S": {"command": "x", ` + fallback(serverObject, "toolFilters") + `}}}}, ` +
		fallback(rootObject, "toolMode") + `, ` + fallback(rootObject, "maxMessageSize") + `, "timeouts": {` +
		fallback(timeoutsObject, "connect") + `, ` + fallback(timeoutsObject, "call") + `}, "http": {` +
		fallback(httpObject, "listen") + `, ` + fallback(httpObject, "sessionIdle") + `, ` + fallback(httpObject, "clientIdle") + `}}`
	if diff := cmp.Diff(parse(t, server(`{"command": "x"}`)), parse(t, file), compareFilters); diff != "" {
		t.Errorf("defaults in the code and in the schema differ:\n%s", diff)
	}
}
