package protocol

import (
	"strings"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

func TestMethods(t *testing.T) {
	seen := make(map[string]bool)
	for _, m := range methods {
		if seen[m.Name] {
			t.Errorf("%s stands twice", m.Name)
		}
		seen[m.Name] = true
		if FindMethod(m.Name).Name != m.Name {
			t.Errorf("%s is not found", m.Name)
		}
		if m.InHeader && m.Subject == "" {
			t.Errorf("%s has a header and no subject", m.Name)
		}
		if isList := strings.HasSuffix(m.Name, "/list") && m.Name != MethodToolsList; isList != (m.List != nil) || isList && m.List.Method != m.Name {
			t.Errorf("%s has the list %v", m.Name, m.List)
		}
		if _, decides := DecisiveKey([]byte(m.Subject)); m.Subject != "" && !decides {
			t.Errorf("%s is routed by %s, which is not decisive", m.Name, m.Subject)
		}
	}
	if m := FindMethod("no/such"); *m != (Method{}) {
		t.Errorf("an unknown method is %v", m)
	}
}

func TestSimilarMethod(t *testing.T) {
	for name, want := range map[string]string{
		"tools/call": MethodToolsCall, "Tools/Call": MethodToolsCall, "\ttools/call\n": MethodToolsCall, "tools//call": MethodToolsCall,
		"toolsCall": MethodToolsCall, "tools/call\x00": MethodToolsCall, "tools\u200b/call": MethodToolsCall, "tool\u017f/call": MethodToolsCall,
		"ta\u017fks/\u212aill": "", "tools/calls": "", "custom/method": "", "x/tools/call": "", "": "", "1/2": "",
		"TASKS/watch": "", "workbench/Tasks/watch": MethodWatchTask, "resources/Read": MethodResourcesRead,
	} {
		if got := SimilarMethod(name); got != want {
			t.Errorf("%q is similar to %q, want %q", name, got, want)
		}
	}
}

func TestSubjectOf(t *testing.T) {
	const params = `{"uri":"x:1","name":"n","taskId":"7"}`
	for method, want := range map[string]string{
		MethodResourcesRead: "x:1", MethodSubscribe: "x:1", MethodSkillsGet: "x:1", MethodPromptsGet: "n", MethodToolsCall: "n",
		MethodTasksGet: "7", MethodTasksResult: "7", MethodWatchTask: "7",
		MethodResourcesList: "", MethodComplete: "", "no/such": "",
	} {
		if got := FindMethod(method).SubjectOf(wire.Raw([]byte(params))); got != want {
			t.Errorf("%s is about %q, want %q", method, got, want)
		}
	}
	if got := FindMethod(MethodResourcesRead).SubjectOf(wire.Raw([]byte(`{"uri":5}`))); got != "" {
		t.Errorf("a number is the URI %q", got)
	}
}

func TestIsDeclared(t *testing.T) {
	for _, test := range []struct {
		method, capabilities string
		want                 bool
	}{
		{MethodResourcesRead, `{"resources":{}}`, true},
		{MethodTemplatesList, `{"resources":{}}`, true},
		{MethodResourcesRead, `{"resources":null}`, false},
		{MethodResourcesRead, `{"resources":false,"prompts":{}}`, false},
		{MethodPromptsGet, `{"prompts":true}`, true},
		{MethodTasksGet, `{"tasks":{}}`, true},
		{MethodTasksGet, `{"extensions":{"io.modelcontextprotocol/tasks":{}}}`, true},
		{MethodSkillsGet, `{"extensions":{"io.modelcontextprotocol/skills":{}}}`, true},
		{MethodSkillsGet, `{"resources":{}}`, false},
		{"no/such", `{"no":{}}`, false},
	} {
		if got := FindMethod(test.method).IsDeclared(wire.Raw([]byte(test.capabilities))); got != test.want {
			t.Errorf("%s with %s: %t", test.method, test.capabilities, got)
		}
	}
	for name, want := range map[string]bool{
		"tools": true, "resources": true, "prompts": true, "completions": true, "logging": true, "tasks": true, "extensions": true,
		"experimental": false, "": false,
	} {
		if got := IsKnownCapability(name); got != want {
			t.Errorf("%q is known: %t", name, got)
		}
	}
	for name, want := range map[string]bool{ExtensionTasks: true, ExtensionSkills: true, ExtensionApps: true, "x": false, "": false} {
		if got := IsKnownExtension(name); got != want {
			t.Errorf("%q is known: %t", name, got)
		}
	}
}
