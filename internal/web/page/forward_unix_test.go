//go:build unix

package page

import (
	"bufio"
	"io"
	"net/http"
	"strings"
	"testing"
)

// What the page may send reaches the workbench, with the parameters that it may set. Who sends it is said by the server.
func TestForward(t *testing.T) {
	dir := runtime(t)
	b := startBench(t, dir, 7, false)
	s := startSite(t, dir)
	for _, one := range []struct{ method, path, body, want string }{
		{"GET", "tools?q=a+b&limit=5&secret=1", "", "GET /v1/tools?limit=5&q=a+b  terminal"},
		{"POST", "call?toolbox=dev&server=git&tool=log&caller=stdio", `{"n":1}`, `POST /v1/call?server=git&tool=log&toolbox=dev {"n":1} terminal`},
		{"POST", "answer?id=x&answer=once&via=terminal", "", "POST /v1/answer?answer=once&id=x&via=page  terminal"},
		{"POST", "call/answer?question=3", `{"action":"accept"}`, `POST /v1/call/answer?question=3 {"action":"accept"} terminal`},
		{"POST", "accept?toolbox=dev&server=git&tool=log&hash=h", "", "POST /v1/accept?hash=h&server=git&tool=log&toolbox=dev  terminal"},
	} {
		if code, text := s.text(t, one.method, "/ui/api/w/7/"+one.path, one.body); code != http.StatusOK || text != "{}" || b.last() != one.want {
			t.Errorf("%s %s: %d %s; it got %q", one.method, one.path, code, text, b.last())
		}
	}
}

// Nothing else reaches a workbench: above all not what ends it.
func TestForwardRefuses(t *testing.T) {
	dir := runtime(t)
	b := startBench(t, dir, 7, false)
	s := startSite(t, dir)
	for _, one := range []struct {
		method, path string
		want         int
	}{
		{"POST", "7/stop", 404},
		{"POST", "7/hints", 404},
		{"GET", "7/metrics", 404},
		{"GET", "7/watch", 404},
		{"GET", "7/status", 404},
		{"GET", "7/restart", 404},
		{"DELETE", "7/restart", 404},
		{"POST", "7/tools", 404},
		{"POST", "7/call/../stop", 404},
		{"POST", "7/call%2f..%2fstop", 404},
		{"GET", "7/", 404},
		{"GET", "8/tools", 410},
		{"GET", "x/tools", 410},
		{"GET", "7/tools?a;b", 400},
	} {
		if code, text := s.text(t, one.method, "/ui/api/w/"+one.path, ""); code != one.want {
			t.Errorf("%s %s: %d %s", one.method, one.path, code, text)
		}
	}
	for path, body := range map[string]string{"7/call": strings.Repeat("x", maxBody+1), "7/accept": "x"} {
		if code, text := s.text(t, http.MethodPost, "/ui/api/w/"+path, body); code != http.StatusRequestEntityTooLarge {
			t.Errorf("%s: %d %s", path, code, text)
		}
	}
	if got := b.last(); got != "" {
		t.Errorf("the workbench got %s", got)
	}
}

// What a workbench answers is passed on, and only that: neither its type nor its headers make the browser do something.
func TestAnswersAreHarmless(t *testing.T) {
	dir := runtime(t)
	startBench(t, dir, 7, false)
	s := startSite(t, dir)
	refused := s.do(t, http.MethodPost, "/ui/api/w/7/restart?toolbox=dev&server=git", "")
	defer refused.Body.Close()
	body, _ := io.ReadAll(refused.Body)
	if refused.StatusCode != http.StatusConflict || string(body) != `{"error":"no"}` || refused.Header.Get("Content-Type") != "application/json" || refused.Header.Get("Set-Cookie") != "" {
		t.Errorf("%s %s %v", refused.Status, body, refused.Header)
	}
	checkHeaders(t, "restart", refused.Header)
	file := s.do(t, http.MethodGet, "/ui/api/w/7/recording/html?name=x", "")
	defer file.Body.Close()
	if file.Header.Get("Content-Type") != "application/octet-stream" || file.Header.Get("Content-Disposition") != "attachment" || !strings.Contains(file.Header.Get("Content-Security-Policy"), "sandbox") {
		t.Errorf("%v", file.Header)
	}
}

// A log that is followed comes as it is written, and the requests of one page leave room for commands.
func TestStreamsAreBounded(t *testing.T) {
	dir := runtime(t)
	startBench(t, dir, 7, false)
	s := startSite(t, dir)
	for range maxForwarded {
		followed := s.do(t, http.MethodGet, "/ui/api/w/7/logs?follow=1", "")
		defer followed.Body.Close()
		lines := bufio.NewScanner(followed.Body)
		if !lines.Scan() || lines.Text() != "a line" {
			t.Fatalf("%q %v", lines.Text(), lines.Err())
		}
	}
	if code, text := s.text(t, http.MethodGet, "/ui/api/w/7/tools", ""); code != http.StatusServiceUnavailable {
		t.Errorf("%d %s", code, text)
	}
}

// Who has no session gets nothing, and neither has a page of another site with one.
func TestStrangers(t *testing.T) {
	dir := runtime(t)
	b := startBench(t, dir, 7, false)
	s := startSite(t, dir)
	right := s.token
	for _, path := range []string{"hello", "watch", "w/7/tools", "w/7/recording"} {
		for name, header := range map[string]map[string]string{
			"no token":          {"Authorization": ""},
			"a wrong token":     {"Authorization": "Bearer x"},
			"a cookie":          {"Authorization": "", "Cookie": "token=" + right},
			"another origin":    {"Origin": "http://evil.test"},
			"no origin":         {"Origin": "null"},
			"another port":      {"Origin": "http://127.0.0.1:1"},
			"a link from there": {"Sec-Fetch-Site": "cross-site"},
			"a rebound name":    {"Host": "evil.test"},
		} {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+"/ui/api/"+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Authorization", "Bearer "+right)
			for key, value := range header {
				r.Header.Set(key, value)
			}
			r.Host = header["Host"]
			response, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			_ = response.Body.Close()
			if response.StatusCode != http.StatusUnauthorized && response.StatusCode != http.StatusForbidden {
				t.Errorf("%s with %s: %s", path, name, response.Status)
			}
			if response.Header.Get("Access-Control-Allow-Origin") != "" {
				t.Errorf("%s with %s: it may be read", path, name)
			}
			checkHeaders(t, path, response.Header)
		}
	}
	if got := b.last(); got != "" {
		t.Errorf("the workbench got %s", got)
	}
}
