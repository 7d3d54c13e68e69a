package catalog

import (
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestLockIsReadAsItWasWritten(t *testing.T) {
	for name, lock := range map[string]Lock{
		"nothing":                {},
		"a server without tools": {Servers: []LockedServer{{Toolbox: "t", Server: "s"}}},
		"odd names and an order": {Servers: []LockedServer{
			{Toolbox: "z", Server: "10", Version: `1"`, Tools: []LockedTool{{"b", Hash{1}}, {"a\n/", Hash{2}}}},
			{Toolbox: "z", Server: "2", Version: "é", Tools: []LockedTool{{"b", Hash{3}}}},
			{Toolbox: "a", Server: "10"},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := ParseLock(lock.Encode())
			if err != nil || !reflect.DeepEqual(*got, lock) {
				t.Errorf("read as %+v, %v from\n%s", got, err, lock.Encode())
			}
		})
	}
}

func TestDamagedLocksAreRefused(t *testing.T) {
	hash := `"sha256:` + strings.Repeat("0", 64) + `"`
	server := func(content string) string { return `{"version":1,"toolboxes":{"t":{"s":` + content + `}}}` }
	good := server(`{"serverVersion":"1","tools":{"a":` + hash + `}}`)
	if _, err := ParseLock([]byte(good)); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct{ content, want string }{
		"empty":             {"", "no JSON"},
		"cut off":           {good[:len(good)-1], "no JSON"},
		"more behind it":    {good + "{}", "no JSON"},
		"left by a merge":   {"<<<<<<< HEAD\n" + good, "no JSON"},
		"no object":         {"[]", "no object"},
		"no version":        {`{"toolboxes":{}}`, "'version' is missing"},
		"another version":   {`{"version":2,"toolboxes":{}}`, "version is 2"},
		"no toolboxes":      {`{"version":1}`, "'toolboxes' is missing"},
		"an unknown key":    {`{"version":1,"toolboxes":{},"all":true}`, "unknown key 'all'"},
		"a key twice":       {`{"version":1,"toolboxes":{},"toolboxes":{}}`, "twice"},
		"a toolbox twice":   {`{"version":1,"toolboxes":{"t":{},"t":{}}}`, "'t' twice"},
		"a tool twice":      {server(`{"serverVersion":"","tools":{"a":` + hash + `,"a":` + hash + `}}`), "'a' twice"},
		"an escaped twin":   {server(`{"serverVersion":"","tools":{"a":` + hash + `,"\u0061":` + hash + `}}`), "'a' twice"},
		"tools are no list": {server(`{"serverVersion":"","tools":true}`), "no object"},
		"no tools":          {server(`{"serverVersion":""}`), "'tools' is missing"},
		"a server is null":  {server(`null`), "no object"},
		"version no text":   {server(`{"serverVersion":1,"tools":{}}`), "no text"},
		"no hash":           {server(`{"serverVersion":"","tools":{"a":true}}`), "no hash"},
		"a short hash":      {server(`{"serverVersion":"","tools":{"a":"sha256:00"}}`), "no hash"},
		"another hash":      {server(`{"serverVersion":"","tools":{"a":"` + strings.Repeat("0", 64) + `"}}`), "no hash"},
	} {
		t.Run(name, func(t *testing.T) {
			lock, err := ParseLock([]byte(tt.content))
			if err == nil || lock != nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("read as %+v, %v; want an error about %q", lock, err, tt.want)
			}
		})
	}
}

func TestUnderALock(t *testing.T) {
	approved := offered(`{"name":"same","inputSchema":{}}`, `{"name":"changed","inputSchema":{}}`)
	lock := &Lock{Servers: []LockedServer{{Toolbox: "t", Server: "s", Tools: LockTools(approved)}}}
	now := offered(`{"name":"new","inputSchema":{}}`, `{"name":"changed","title":"X","inputSchema":{}}`, `{"name":"same","inputSchema":{}}`)
	under := now.Under(lock, "t", "s")
	if !slices.Equal(under.Names(), []string{"same"}) || len(under.Warnings) != 2 {
		t.Errorf("approved are %q, with the warnings %q", under.Names(), under.Warnings)
	}
	if _, ok := under.Find("changed"); ok {
		t.Error("a tool that changed is found")
	}
	if tool, ok := under.Find("same"); !ok || tool.Name != "same" {
		t.Errorf("the approved tool is %v", tool)
	}
	for name, want := range map[string]string{"new": "is not in workbench.lock", "changed": "is not as workbench.lock has it", "same": ""} {
		if reason, _ := under.Withheld(name); !strings.HasPrefix(reason, want) || want == "" && reason != "" {
			t.Errorf("%s is withheld because it %q", name, reason)
		}
	}
	if again := under.Under(nil, "t", "s"); again != now {
		t.Error("without the lock, not all is as it was")
	}
	wider := &Lock{Servers: []LockedServer{{Toolbox: "t", Server: "s", Tools: LockTools(now)}}}
	if again := under.Under(wider, "t", "s"); len(again.Tools) != 3 || len(again.Warnings) != 0 {
		t.Errorf("another lock approves %q, with %q", again.Names(), again.Warnings)
	}
	for _, place := range [][2]string{{"t", "other"}, {"other", "s"}} {
		if other := now.Under(lock, place[0], place[1]); len(other.Tools) != 0 {
			t.Errorf("what was approved of another server counts for %q", place)
		}
	}
	free := &Lock{Free: []string{"t"}}
	if now.Under(free, "t", "s") != now || len(now.Under(free, "u", "s").Tools) != 0 {
		t.Error("a lock holds for a toolbox that it leaves free, or not for the others")
	}
	var none *Snapshot
	if none.Under(lock, "t", "s") != nil {
		t.Error("nothing became something")
	}
}

func FuzzParseLock(f *testing.F) {
	f.Add([]byte(`{"version":1,"toolboxes":{"t":{"s":{"serverVersion":"1","tools":{}}}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		lock, err := ParseLock(data)
		if err != nil {
			return
		}
		if again, err := ParseLock(lock.Encode()); err != nil || len(again.Servers) != len(lock.Servers) {
			t.Errorf("what was read is not what is written: %v", err)
		}
	})
}
