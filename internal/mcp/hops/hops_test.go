package hops

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func fixed(key string) func() []byte { return func() []byte { return []byte(key) } }

var known = []Server{{"dev", "other"}, {"dev", "back"}}

func TestCheck(t *testing.T) {
	const own, project, foreign = "/a.json", "/p.json", "/b.json"
	self := New(fixed("k"))
	again := New(fixed("k")) // another program
	stranger := New(fixed("of another user"))
	many := ""
	for range Max {
		many = again.Extend(many, foreign, "t", "s")
	}
	for _, test := range []struct {
		name, chain, want string
	}{
		{"no workbench before it", "", ""},
		{"a bridge before it", None, ""},
		{"itself", self.Extend("", own, "dev", "back"), "server 'back' in toolbox 'dev' leads back to this workbench"},
		{"another program", again.Extend("", own, "dev", "back"), "server 'back' in toolbox 'dev' leads back to this workbench"},
		{"by its other file", again.Extend("", project, "dev", "back"), "server 'back' in toolbox 'dev' leads back to this workbench"},
		{"behind another", again.Extend(again.Extend("", own, "dev", "back"), foreign, "x", "y"), "server 'back' in toolbox 'dev' leads back to this workbench"},
		{"by a server that is gone", self.Extend("", own, "dev", "gone"), "one of the servers of this workbench leads back"},
		{"another configuration", self.Extend("", foreign, "dev", "back"), ""},
		{"another user", stranger.Extend("", own, "dev", "back"), ""},
		{"as many as there may be", many, ""},
		{"one more", again.Extend(many, foreign, "t", "s"), "more than 8 workbenches"},
		{"of another version", "ab12,0", ""},
		{"something else", "x,y", "not one of a workbench"},
		{"a token", "mcpw_aB3", "not one of a workbench"},
		{"very long", strings.Repeat("x", 1<<20), "more than 8 workbenches"},
	} {
		err := self.Check(test.chain, Workbench{Files: []string{own, project}, Servers: known})
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s: %v, want %q", test.name, err, test.want)
		}
	}
	if mark := self.Extend("x", "", "t", "s"); mark != "x" {
		t.Errorf("a bridge leaves a mark: %q", mark)
	}
	if mark := self.Extend("", "", "t", "s"); mark != None || Chain(mark) != "" || Count(Chain(mark)) != 0 {
		t.Errorf("a bridge without a workbench before it has the mark %q", mark)
	}
}

// A workbench that serves one toolbox may be a server of another toolbox of its file, but of none
// that it is reached by again.
func TestCheckOfOneToolbox(t *testing.T) {
	const own = "/a.json"
	self := New(fixed("k"))
	inner := Workbench{Files: []string{own}, Servers: []Server{{"outer", "wb"}, {"inner", "s"}}, Toolbox: "inner"}
	outer := inner
	outer.Toolbox = "outer"
	once := self.Extend("", own, "outer", "wb")
	for _, test := range []struct {
		name, chain string
		at          Workbench
		want        string
	}{
		{"from another toolbox", once, inner, ""},
		{"from its own", self.Extend("", own, "inner", "s"), inner, "server 's' in toolbox 'inner' leads back"},
		{"back to the first", self.Extend(once, own, "inner", "s"), outer, "server 'wb' in toolbox 'outer' leads back"},
		{"twice by the same server", self.Extend(once, own, "outer", "wb"), inner, "server 'wb' in toolbox 'outer' leads back"},
		{"by a server that is gone", self.Extend("", own, "outer", "gone"), inner, "one of the servers of this workbench leads back"},
	} {
		err := self.Check(test.chain, test.at)
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s: %v, want %q", test.name, err, test.want)
		}
	}
}

// A mark tells strangers nothing, and not even that two are of the same workbench.
func TestMarksTellNothing(t *testing.T) {
	first := New(fixed("k")).Extend("", "/home/me/secret.json", "toolbox", "server")
	second := New(fixed("k")).Extend("", "/home/me/secret.json", "toolbox", "server")
	if len(first) != hopLength {
		t.Errorf("the mark has %d bytes", len(first))
	}
	for i := 0; i+8 <= len(first); i += 8 {
		if strings.Contains(second, first[i:i+8]) {
			t.Errorf("%s and %s have a part in common", first, second)
		}
	}
}

func TestKey(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "state")
	first := Key(folder)
	if len(first) != keySize || !bytes.Equal(first, Key(folder)) {
		t.Error("the key is another one the second time")
	}
	if info, err := os.Stat(filepath.Join(folder, keyName)); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if bytes.Equal(Key(""), Key("")) {
		t.Error("without a folder two programs have the same key")
	}
	if err := os.WriteFile(filepath.Join(folder, keyName), []byte("short"), 0o600); err != nil {
		t.Fatal(err)
	}
	if bytes.Equal(Key(folder), []byte("short")) {
		t.Error("a damaged key is used")
	}
}

func TestAsk(t *testing.T) {
	var status int
	var body string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get(Header) != "mark" || r.Header.Get("X-Team") != "tools" {
			t.Errorf("headers: %v", r.Header)
		}
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}))
	defer server.Close()
	for _, test := range []struct {
		status     int
		body, want string
	}{
		{http.StatusLoopDetected, `{"error":{"message":"it leads back"}}`, "it leads back"},
		{http.StatusLoopDetected, `{}`, ""},
		{http.StatusUnauthorized, `{"error":{"message":"no"}}`, ""},
		{http.StatusOK, `{"error":{"message":"no"}}`, ""},
	} {
		status, body = test.status, test.body
		err := Probe(t.Context(), server.URL, http.Header{"X-Team": {"tools"}}, "mark")
		if (err == nil) != (test.want == "") || err != nil && err.Error() != test.want {
			t.Errorf("%d %s: %v", test.status, test.body, err)
		}
	}
	server.Close()
	if err := Probe(t.Context(), server.URL, nil, "mark"); err != nil {
		t.Errorf("one that is gone: %v", err)
	}
}
