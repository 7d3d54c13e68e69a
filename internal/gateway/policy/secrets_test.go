package policy

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

const token = "ghp_0123456789abcdefghij"

func TestSearch(t *testing.T) {
	for _, test := range []struct {
		name, value, want, path string
		isAnswer                bool
	}{
		{name: "nothing", value: `{ "a" : [1.0,null, "ghp_"] }`, want: `{ "a" : [1.0,null, "ghp_"] }`},
		{name: "a string", value: `"` + token + `"`, want: `"[hidden]"`, path: "[hidden]"},
		{name: "inside", value: `{ "a" : {"b":[1.0, "x ` + token + ` y"]} , "c":1e2}`, want: `{ "a" : {"b":[1.0, "x [hidden] y"]} , "c":1e2}`, path: "a.b[1]"},
		{name: "escaped", value: `{"a":"\u0067hp_0123456789abcdefghij"}`, want: `{"a":"[hidden]"}`, path: "a"},
		{name: "JSON in a string", value: `{"a":"{\"b\":\"\\u0067hp_0123456789abcdefghij\"}"}`, want: `{"a":"{\"b\":\"[hidden]\"}"}`, path: "a"},
		{name: "names", value: `{"` + token + `":1,"ghp_abcdefghij0123456789":2}`, want: `{"[hidden]":1,"[hidden]'":2}`, path: "[hidden]"},
		{name: "below a name", value: `{"` + token + `":"` + token + `"}`, want: `{"[hidden]":"[hidden]"}`, path: "[hidden]"},
		{name: "the same name twice", value: `{"a":"` + token + `","a":"x"}`, want: `{"a":"[hidden]","a":"x"}`, path: "a"},
		{name: "a state in arguments", value: `{"requestState":"` + token + `"}`, want: `{"requestState":"[hidden]"}`, path: "requestState"},
		{name: "a state of a server", value: `{"requestState":"` + token + `"}`, want: `{"requestState":"` + token + `"}`, isAnswer: true},
		{name: "a state inside", value: `{"a":{"requestState":"` + token + `"}}`, want: `{"a":{"requestState":"[hidden]"}}`, path: "a.requestState", isAnswer: true},
		{name: "an image", value: `{"content":[{"type":"image","data":"/9j/AKIAIOSFODNN7EXAMPLE"}]}`, want: `{"content":[{"type":"image","data":"/9j/AKIAIOSFODNN7EXAMPLE"}]}`, isAnswer: true},
		{name: "what only says that it is an image", value: `{"structuredContent":{"type":"image","data":"` + token + `"}}`, want: `{"structuredContent":{"type":"image","data":"[hidden]"}}`, path: "structuredContent.data", isAnswer: true},
		{name: "a blob", value: `{"blob":"eCBnaHBfMDEyMzQ1Njc4OWFiY2RlZmdoaWogeQ=="}`, want: `{"blob":"eCBbaGlkZGVuXSB5"}`, path: "blob", isAnswer: true},
		{name: "a blob that is not encoded", value: `{"blob":"` + token + `"}`, want: `{"blob":"[hidden]"}`, path: "blob", isAnswer: true},
		{
			name: "a page for a person", isAnswer: true,
			value: `{"inputRequests":{"a":{"params":{"mode":"url","url":"https://h/?s=` + token + `"}}}}`,
			want:  `{"inputRequests":{"a":{"params":{"mode":"url","url":"https://h/?s=` + token + `"}}}}`,
		},
		{
			name: "a page that an error asks for", isAnswer: true, path: "data.elicitations[0].message",
			value: `{"code":-32042,"data":{"elicitations":[{"mode":"url","url":"https://h/?s=` + token + `","message":"` + token + `"}]}}`,
			want:  `{"code":-32042,"data":{"elicitations":[{"mode":"url","url":"https://h/?s=` + token + `","message":"[hidden]"}]}}`,
		},
		{
			name: "an address elsewhere", isAnswer: true, path: "structuredContent.url",
			value: `{"structuredContent":{"mode":"url","url":"https://h/?s=` + token + `"}}`,
			want:  `{"structuredContent":{"mode":"url","url":"https://h/?s=[hidden]"}}`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			found := search{isAnswer: test.isAnswer}
			value := wire.Raw([]byte(test.value))
			found.value(value, nil)
			if got := string(found.masked(value).Bytes()); got != test.want || found.path != test.path {
				t.Errorf("got  %s at %q\nwant %s at %q", got, found.path, test.want, test.path)
			}
			if (found.kind != "") != (test.path != "") {
				t.Errorf("the kind is %q", found.kind)
			}
		})
	}
}

func FuzzSearch(f *testing.F) {
	f.Add(`{"a":["` + token + `",1.0],"b":{"c":"\u0067hp_0123456789abcdefghij"}}`)
	f.Add(`{"content":[{"type":"text","text":"Bearer 0123456789abcdef"}],"blob":"eCBn"}`)
	f.Add(`"-----BEGIN PRIVATE KEY-----\n0123456789abcdef0123456789abcdef"`)
	f.Fuzz(func(t *testing.T, text string) {
		value, err := wire.ParseValue([]byte(text))
		if err != nil {
			return
		}
		for _, isAnswer := range []bool{false, true} {
			found := search{isAnswer: isAnswer}
			found.value(value, nil)
			masked, err := wire.ParseValue(found.masked(value).Bytes())
			if err != nil {
				t.Fatalf("%s became %s: %v", text, found.masked(value).Bytes(), err)
			}
			if found.kind == "" && string(masked.Bytes()) != string(value.Bytes()) {
				t.Errorf("%s became %s without a secret", text, masked.Bytes())
			}
			if a, b := shape(t, value), shape(t, masked); !reflect.DeepEqual(a, b) {
				t.Errorf("%s became %s, which has another structure", text, masked.Bytes())
			}
			if !isAnswer && strings.Contains(string(masked.Bytes()), `"`+token+`"`) {
				t.Errorf("%s became %s", text, masked.Bytes())
			}
		}
	})
}

// shape returns a value without the texts in it.
func shape(t *testing.T, value wire.Payload) any {
	switch value.Kind() {
	case "object":
		var all []any
		for _, member := range value.Pairs() {
			all = append(all, shape(t, member))
		}
		return all
	case "array":
		all := []any{"array"}
		for element := range value.Elements() {
			all = append(all, shape(t, element))
		}
		return all
	case "string":
		return "string"
	}
	if !json.Valid(value.Bytes()) {
		t.Errorf("%s is not JSON", value.Bytes())
	}
	return string(value.Bytes())
}

func TestTaskSecrets(t *testing.T) {
	p := &Policy{files: []config.PolicyFile{{Rules: []config.PolicyRule{
		{Tools: []toolbox.Pattern{"a/s/get_*"}, ResultSecrets: config.SecretsMask},
		{Tools: []toolbox.Pattern{"b/*"}, ResultSecrets: config.SecretsDeny, Callers: []string{"token:ci"}},
		{ArgumentSecrets: config.SecretsDeny, Callers: []string{"shared"}},
	}}}}
	if !p.HasSecretRules() {
		t.Error("there are rules")
	}
	for _, test := range []struct {
		caller, box, server string
		want                config.SecretAction
	}{
		{"stdio", "a", "s", config.SecretsMask}, {"stdio", "a", "t", 0}, {"stdio", "b", "s", 0}, {"token:ci", "b", "s", config.SecretsDeny}, {"shared", "c", "s", 0},
	} {
		if got := p.taskSecrets(test.caller, test.box, test.server); got.Action != test.want {
			t.Errorf("%+v: %+v", test, got)
		}
	}
	if (*Policy)(nil).HasSecretRules() || (&Policy{files: []config.PolicyFile{{Default: config.Deny}}}).HasSecretRules() {
		t.Error("there are no rules")
	}
}
