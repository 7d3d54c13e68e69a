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
			{Toolbox: "z", Server: "10", Version: `1"`, Instructions: &Record{Hash: Hash{9}, Content: []byte(`"use\nit"`)}, Tools: []LockedTool{{"b", Record{Hash: Hash{1}, Content: []byte(`{"name":"b","x":[1,{}]}`)}}, {"a\n/", Record{Hash: Hash{2}}}}},
			{Toolbox: "z", Server: "2", Version: "é", Tools: []LockedTool{{"b", Record{Hash: Hash{3}, First: true}}}},
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
		"empty":             {"", "not valid JSON"},
		"cut off":           {good[:len(good)-1], "not valid JSON"},
		"more behind it":    {good + "{}", "not valid JSON"},
		"left by a merge":   {"<<<<<<< HEAD\n" + good, "not valid JSON"},
		"not an object":     {"[]", "not an object"},
		"no version":        {`{"toolboxes":{}}`, "'version' is missing"},
		"another version":   {`{"version":3,"toolboxes":{}}`, "version is 3"},
		"a wrong member":    {server(`{"serverVersion":"","tools":{"a":{"sha256":"` + strings.Repeat("0", 64) + `","text":"x"}}}`), "wrong 'text'"},
		"a word no object":  {server(`{"serverVersion":"","tools":{"a":{"sha256":"` + strings.Repeat("0", 64) + `","definition":1}}}`), "wrong 'definition'"},
		"a hash twice":      {server(`{"serverVersion":"","tools":{"a":{"sha256":"` + strings.Repeat("0", 64) + `","sha256":"` + strings.Repeat("0", 64) + `"}}}`), "twice"},
		"words alone":       {server(`{"serverVersion":"","tools":{"a":{"definition":{}}}}`), "no hash"},
		"old instructions":  {server(`{"serverVersion":"","tools":{},"instructions":` + hash + `}`), "'instructions' of server 's' (toolbox 't'): has no hash"},
		"no toolboxes":      {`{"version":1}`, "'toolboxes' is missing"},
		"an unknown key":    {`{"version":1,"toolboxes":{},"all":true}`, "unknown key 'all'"},
		"a key twice":       {`{"version":1,"toolboxes":{},"toolboxes":{}}`, "twice"},
		"a toolbox twice":   {`{"version":1,"toolboxes":{"t":{},"t":{}}}`, "'t' twice"},
		"a tool twice":      {server(`{"serverVersion":"","tools":{"a":` + hash + `,"a":` + hash + `}}`), "'a' twice"},
		"an escaped twin":   {server(`{"serverVersion":"","tools":{"a":` + hash + `,"\u0061":` + hash + `}}`), "'a' twice"},
		"tools are no list": {server(`{"serverVersion":"","tools":true}`), "not an object"},
		"no tools":          {server(`{"serverVersion":""}`), "'tools' is missing"},
		"a server is null":  {server(`null`), "not an object"},
		"version no text":   {server(`{"serverVersion":1,"tools":{}}`), "not a string"},
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
	lock := &Lock{Servers: []LockedServer{{Toolbox: "t", Server: "s", Tools: locked(approved)}}}
	now := offered(`{"name":"new","inputSchema":{}}`, `{"name":"changed","title":"X","inputSchema":{}}`, `{"name":"same","inputSchema":{}}`)
	under := now.Under(&Restrictions{Lock: lock}, "t", "s")
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
	wider := &Lock{Servers: []LockedServer{{Toolbox: "t", Server: "s", Tools: locked(now)}}}
	if again := under.Under(&Restrictions{Lock: wider}, "t", "s"); len(again.Tools) != 3 || len(again.Warnings) != 0 {
		t.Errorf("another lock approves %q, with %q", again.Names(), again.Warnings)
	}
	for _, place := range [][2]string{{"t", "other"}, {"other", "s"}} {
		if other := now.Under(&Restrictions{Lock: lock}, place[0], place[1]); len(other.Tools) != 0 {
			t.Errorf("what was approved of another server counts for %q", place)
		}
	}
	free := &Lock{Free: []string{"t"}}
	if now.Under(&Restrictions{Lock: free}, "t", "s") != now || len(now.Under(&Restrictions{Lock: free}, "u", "s").Tools) != 0 {
		t.Error("a lock holds for a toolbox that it leaves free, or not for the others")
	}
	var none *Snapshot
	if none.Under(&Restrictions{Lock: lock}, "t", "s") != nil {
		t.Error("nothing became something")
	}
}

// locked is what a lock holds if all tools are approved.
func locked(s *Snapshot) (tools []LockedTool) {
	for _, tool := range s.Tools {
		tools = append(tools, LockedTool{tool.Name, tool.Record(plainly)})
	}
	return tools
}

func TestInstructionsUnderALock(t *testing.T) {
	now := instructed(t, "use it\u200b", named("a"))
	of := func(instructions *Record) *Lock {
		return &Lock{Servers: []LockedServer{{Toolbox: "t", Server: "s", Instructions: instructions, Tools: locked(now)}}}
	}
	for name, test := range map[string]struct {
		lock *Lock
		want string
	}{
		"approved":                 {of(now.InstructionsRecord(plainly)), ""},
		"from a lock without them": {of(nil), ""},
		"changed":                  {of(instructed(t, "use it", named("a")).InstructionsRecord(plainly)), "The instructions of server 's' are not as workbench.lock has them, and are withheld until"},
		"new":                      {of(instructed(t, "").InstructionsRecord(plainly)), "The instructions of server 's' are not as workbench.lock has them"},
		"of an unknown server":     {&Lock{}, "The instructions of server 's' are not in workbench.lock"},
		"without a lock":           {nil, ""},
	} {
		under := now.Under(&Restrictions{Lock: test.lock}, "t", "s")
		if isWithheld := test.want != ""; under.InstructionsWithheld() != isWithheld || (under.Instructions == "") != isWithheld {
			t.Errorf("%s: %q", name, under.Instructions)
		} else if isWithheld && !strings.HasPrefix(under.Warnings[0], test.want) {
			t.Errorf("%s: the warnings are %q", name, under.Warnings)
		}
		if again := under.Under(nil, "t", "s"); again.Instructions != "use it" {
			t.Errorf("%s: without the lock, the instructions are %q", name, again.Instructions)
		}
	}
}

// ofTheFirstVersion are definitions, by name, with the hashes that version 1 of the program made of them.
var ofTheFirstVersion = map[string][2]string{
	"plain": {named("plain"), "4bf5891dcd42669a39aaa247dde063c63a66bdf928e646f7cb837fd81e0fb3fd"},
	"bare":  {`{"name":"bare"}`, "a1b95f0766f9be40d607f9b0b87daadb9d281e2daf2db3df5e6d0e3dc32d8ada"},
	"cleaned": {
		`{"name":"cleaned","title":"\u200btitle","description":"a\u200bb \u001b[1mbold \u200emark","inputSchema":{"title":"x\u202e","enum":["\u200b"]}}`,
		"262669321456a0bd306dcf01e435d402ee261033a9955886c823647bc3925a04",
	},
}

func TestLocksOfTheFirstVersionApprove(t *testing.T) {
	for name, old := range ofTheFirstVersion {
		lock, err := ParseLock([]byte(`{"version":1,"toolboxes":{"t":{"s":{"serverVersion":"1","tools":{"` + name + `":"sha256:` + old[1] + `"}}}}}`))
		if err != nil {
			t.Fatal(err)
		}
		if under := instructed(t, "use it", old[0]).Under(&Restrictions{Lock: lock}, "t", "s"); len(under.Tools) != 1 || under.Instructions != "use it" {
			t.Errorf("%s is withheld: %q", name, under.Warnings)
		}
		changed := strings.Replace(old[0], `{"name"`, `{"x":1,"name"`, 1)
		if under := instructed(t, "", changed).Under(&Restrictions{Lock: lock}, "t", "s"); len(under.Tools) != 0 {
			t.Errorf("%s is approved in another form", name)
		}
		again, err := ParseLock(lock.Encode())
		if err != nil || !reflect.DeepEqual(again, lock) || !strings.Contains(string(lock.Encode()), `"version": 2`) {
			t.Errorf("written again, it is read as %+v, %v", again, err)
		}
	}
}

// Definitions of any length can be locked: what has no room is locked by its hash.
func TestLocksHaveALimit(t *testing.T) {
	long := `{"name":"%d","description":"` + strings.Repeat("x", maxLockContent/2-100) + `","inputSchema":{}}`
	lock := &Lock{Servers: []LockedServer{{Toolbox: "t", Server: "s"}}}
	now := offered(strings.Replace(long, "%d", "a", 1), strings.Replace(long, "%d", "b", 1), strings.Replace(long, "%d", "c", 1))
	lock.Servers[0].Tools = locked(now)
	data := lock.Encode()
	if len(data) > maxLockContent+1000 {
		t.Errorf("the lock has %d bytes", len(data))
	}
	again, err := ParseLock(data)
	if err != nil {
		t.Fatal(err)
	}
	if under := now.Under(&Restrictions{Lock: again}, "t", "s"); len(under.Tools) != 3 {
		t.Errorf("approved are %q", under.Names())
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
