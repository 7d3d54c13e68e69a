package audit

import (
	"errors"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/gateway/approval"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/call"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/catalog"
)

// writeEveryKind writes a log that has every kind of line.
func (r *rig) writeEveryKind() {
	r.t.Helper()
	l := Open(r.options)
	stage := NewStage(l)
	for status := range outcomes {
		c := newCall(r.t, `{"path":"a-value"}`)
		stage.CallBegan(c, time.Now())
		if status != call.StatusRefused {
			stage.Admit(c)
		}
		waiting := &approval.Waiting{Caller: "stdio", Rule: "rule", Since: time.Now()}
		stage.Asked(c, waiting)
		stage.Answered(c, waiting, "no", "terminal")
		stage.CallEnded(c, call.End{Status: status, ErrorType: "e", Took: 2 * time.Millisecond})
	}
	for _, method := range []string{"resources/read", "prompts/get", "x/unknown"} {
		c := newCall(r.t, `{}`)
		c.Method = method
		stage.CallBegan(c, time.Now())
		stage.CallEnded(c, call.End{Status: call.StatusOK})
	}
	for _, entry := range []Entry{
		TokenCreated("ci", "calls", []string{"a", "b"}), TokenRemoved("ci"), Login("T", "S", nil), Login("T", "S", errors.New("x")), Logout("T", "S"),
		Reload("/f", nil), Reload("/f", errors.New("x")),
	} {
		l.Add(entry)
	}
	l.ServerStarted("T", "S", time.Millisecond, nil)
	l.ServerStarted("T", "S", time.Millisecond, errors.New("x"))
	l.ServerCrashed("T", "S")
	l.ServerEnded("T", "S", time.Minute, true)
	l.DefinitionsChanged("T", "S", []catalog.Change{{}, {Tool: "x"}})
	refusals := NewRefusals(l)
	refusals.Add("[::1]:80", "ci", "the token is not for metrics")
	refusals.Add("", "", "the token is unknown")
	l.giveBack(3)
	r.close(l)
}

// require checks that members are there and not empty, and returns the object.
func require(t *testing.T, event any, names ...string) map[string]any {
	t.Helper()
	object, ok := event.(map[string]any)
	if !ok {
		t.Fatalf("%v is not an object", event)
	}
	for _, name := range names {
		if value, ok := object[name]; !ok || value == nil || value == "" {
			t.Errorf("%s is missing in %v", name, object)
		}
	}
	return object
}

// requireOne checks that at least one of several members is there.
func requireOne(t *testing.T, event any, names ...string) {
	t.Helper()
	object := require(t, event)
	if !slices.ContainsFunc(names, func(name string) bool { return object[name] != nil && object[name] != "" }) {
		t.Errorf("none of %v is in %v", names, object)
	}
}

// noEmpty checks that no text that was mapped is empty.
func noEmpty(t *testing.T, at string, value any) {
	t.Helper()
	switch value := value.(type) {
	case string:
		if value == "" {
			t.Errorf("%s is empty", at)
		}
	case map[string]any:
		for name, member := range value {
			if name != "unmapped" {
				noEmpty(t, at+"."+name, member)
			}
		}
	case []any:
		for _, member := range value {
			noEmpty(t, at+"[]", member)
		}
	}
}

// What the class API Activity of OCSF 1.6.0 requires: its own attributes, those of the base event and of its objects, their
// constraints and the captions of their numbers.
func TestOCSF(t *testing.T) {
	r := newRig(t)
	r.writeEveryKind()
	events, err := r.exported("ocsf")
	if err != nil || len(events) != strings.Count(r.text(), "\n") {
		t.Fatalf("%d events, %v", len(events), err)
	}
	captions := map[string]map[float64]string{
		"severity": {1: "Informational", 3: "Medium"}, "status": {0: "Unknown", 1: "Success", 2: "Failure"},
		"action": {0: "Unknown", 1: "Allowed", 2: "Denied"}, "disposition": {1: "Allowed", 2: "Blocked", 17: "Logged"},
	}
	activities, kinds := map[float64]string{1: "Create", 2: "Read", 3: "Update", 4: "Delete"}, make(map[any]bool)
	for _, event := range events {
		require(t, event, "activity_id", "category_uid", "class_uid", "metadata", "severity_id", "time", "type_uid", "actor", "api", "src_endpoint")
		noEmpty(t, "event", event)
		if event["class_uid"] != 6003.0 || event["category_uid"] != 6.0 || event["type_uid"] != 600300+event["activity_id"].(float64) {
			t.Errorf("the class is %v, the type %v", event["class_uid"], event["type_uid"])
		}
		metadata := require(t, event["metadata"], "version", "product", "uid", "sequence", "profiles")
		requireOne(t, metadata["product"], "name", "uid")
		if metadata["version"] != "1.6.0" || !slices.Contains(metadata["profiles"].([]any), any("security_control")) {
			t.Errorf("the metadata are %v", metadata)
		}
		actor := require(t, event["actor"])
		requireOne(t, actor, "process", "user", "session", "app_name", "app_uid")
		if user, ok := actor["user"]; ok {
			requireOne(t, user, "account", "name", "uid")
		}
		api := require(t, event["api"], "operation")
		if request, ok := api["request"]; ok {
			require(t, request, "uid")
		}
		if service, ok := api["service"]; ok {
			requireOne(t, service, "name", "uid")
		}
		requireOne(t, event["src_endpoint"], "ip", "uid", "name", "hostname", "svc_name")
		if ip, ok := event["src_endpoint"].(map[string]any)["ip"].(string); ok {
			if _, err := netip.ParseAddr(ip); err != nil {
				t.Error(err)
			}
		}
		if trace, ok := event["trace"]; ok != slices.Contains(metadata["profiles"].([]any), any("trace")) {
			t.Errorf("the trace is %v, the profiles are %v", trace, metadata["profiles"])
		} else if ok {
			require(t, trace, "uid")
		}
		for name, known := range captions {
			if caption, ok := known[event[name+"_id"].(float64)]; !ok || event[name] != caption {
				t.Errorf("%s_id is %v, %s is %v", name, event[name+"_id"], name, event[name])
			}
		}
		unmapped := require(t, event["unmapped"], "event", "time")
		if name, ok := activities[event["activity_id"].(float64)]; ok && event["activity_name"] != name || !ok && (event["activity_id"] != 99.0 || event["activity_name"] != unmapped["event"]) {
			t.Errorf("the activity is %v, %v", event["activity_id"], event["activity_name"])
		}
		at, err := time.Parse(time.RFC3339Nano, unmapped["time"].(string))
		if err != nil || event["time"] != float64(at.UnixMilli()) {
			t.Errorf("the time is %v, of %v", event["time"], unmapped["time"])
		}
		kinds[unmapped["event"]] = true
	}
	if len(kinds) != 12 {
		t.Errorf("the log has only %v", kinds)
	}
}

// What CloudEvents 1.0 requires of events in JSON.
func TestCloudEvents(t *testing.T) {
	r := newRig(t)
	r.writeEveryKind()
	events, err := r.exported("cloudevents")
	if err != nil || len(events) != strings.Count(r.text(), "\n") {
		t.Fatalf("%d events, %v", len(events), err)
	}
	seen := make(map[string]bool)
	for _, event := range events {
		require(t, event, "id", "source", "specversion", "type", "time", "data")
		noEmpty(t, "event", map[string]any{"unmapped": event["data"], "subject": event["subject"]})
		if _, err := time.Parse(time.RFC3339, event["time"].(string)); err != nil {
			t.Error(err)
		}
		if source, err := url.Parse(event["source"].(string)); err != nil || source.Path == "" {
			t.Errorf("the source is %v: %v", event["source"], err)
		}
		if subject, ok := event["subject"]; ok && subject == "" {
			t.Errorf("the subject is empty in %v", event)
		}
		for name := range event {
			if strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789") != "" {
				t.Errorf("%q is not the name of an attribute", name)
			}
		}
		id := event["source"].(string) + " " + event["id"].(string)
		if event["specversion"] != "1.0" || event["datacontenttype"] != "application/json" || seen[id] {
			t.Errorf("%v", event)
		}
		seen[id] = true
	}
}
