package webclient

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestLargeDocuments(t *testing.T) {
	zeros := make([]byte, 8<<20)
	var bomb bytes.Buffer
	pack := gzip.NewWriter(&bomb)
	pack.Write(zeros)
	pack.Close()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/largest":
			w.Write(zeros[:maxDocument])
		case "/chunked":
			w.Write(zeros[:maxDocument])
			w.(http.Flusher).Flush()
			w.Write(zeros[:1])
		case "/declared":
			w.Header().Set("Content-Length", strconv.Itoa(maxDocument+1))
			w.WriteHeader(http.StatusOK)
		case "/endless":
			for {
				if _, err := w.Write(zeros[:1<<10]); err != nil {
					return
				}
			}
		case "/gzip":
			w.Header().Set("Content-Encoding", "gzip")
			w.Write(bomb.Bytes())
		case "/headers":
			w.Header().Set("X", strings.Repeat("x", 2*maxHeader))
		}
	}))
	defer server.Close()
	g := newGuard(t, server.URL, Options{})
	if document, err := g.Get(t.Context(), server.URL+"/largest"); err != nil || len(document.Body) != maxDocument {
		t.Error("the largest document: ", err)
	}
	for _, path := range []string{"/chunked", "/declared", "/endless"} {
		for _, fetch := range []func() (*Document, error){
			func() (*Document, error) { return g.Get(t.Context(), server.URL+path+"?key=hidden") },
			func() (*Document, error) {
				return g.Post(t.Context(), server.URL+path+"?key=hidden", nil, []byte("x"), time.Minute)
			},
		} {
			_, err := fetch()
			if large, ok := errors.AsType[*TooLargeError](err); !ok || large.Error() != "the response of "+server.URL+path+" is larger than 256 KiB, and was not read" {
				t.Errorf("%s: error %v", path, err)
			}
		}
	}
	// 8 MiB of zeros stay as small as they are sent.
	if document, err := g.Get(t.Context(), server.URL+"/gzip"); err != nil || len(document.Body) != bomb.Len() {
		t.Errorf("got %d bytes, %v", len(document.Body), err)
	}
	_, err := g.Get(t.Context(), server.URL+"/headers")
	wantUnreachable(t, err, "the connection broke off: ")
}

// A server that sends a byte each second gets 5 s for a document, and what the caller grants for a token request.
func TestSlowDocuments(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var serving sync.WaitGroup
		defer serving.Wait()
		g := newGuard(t, "http://127.0.0.1:1", Options{})
		g.direct.DialContext = func(context.Context, string, string) (net.Conn, error) {
			ours, theirs := net.Pipe()
			serving.Go(func() {
				defer ours.Close()
				if _, err := http.ReadRequest(bufio.NewReader(ours)); err != nil {
					return
				}
				io.WriteString(ours, "HTTP/1.1 200 OK\r\n\r\n")
				for {
					if _, err := io.WriteString(ours, "x"); err != nil {
						return
					}
					<-time.After(time.Second)
				}
			})
			return theirs, nil
		}
		begin := time.Now()
		_, err := g.Get(t.Context(), "http://127.0.0.1:1/x?key=hidden")
		wantUnreachable(t, err, "cannot reach http://127.0.0.1:1/x: it did not answer within 5s")
		if took := time.Since(begin); took != documentTime {
			t.Errorf("it took %v", took)
		}
		begin = time.Now()
		_, err = g.Post(t.Context(), "http://127.0.0.1:1/x", nil, []byte("x"), 20*time.Second)
		wantUnreachable(t, err, "it did not answer within 20s")
		if took := time.Since(begin); took != 20*time.Second {
			t.Errorf("it took %v", took)
		}
	})
}

func TestDecodeJSON(t *testing.T) {
	nested := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	for _, test := range []struct{ body, want string }{
		{`{"issuer":"x"}`, ""},
		{"\xef\xbb\xbf{}", ""},
		{` {"issuer":"\"[[[[","more":` + nested(maxDepth-1) + `} `, ""},
		{`{"more":` + nested(maxDepth) + `}`, "the JSON is nested deeper than 32 levels"},
		{strings.Repeat(`{"a":`, 100_000), "the JSON is nested deeper than 32 levels"},
		{`{"issuer":1234567}`, "the JSON has a number in 'issuer', where another type is expected"},
		{`{"issuer":{"hidden":1}}`, "the JSON has a object in 'issuer', where another type is expected"},
		{`"hidden"`, "the JSON is a string, where an object is expected"},
		{`<html>hidden`, "it is not valid JSON (at byte 1)"},
		{`{} {}`, "it is not valid JSON (at byte 4)"},
		{`{"issuer":"hid`, "it is not valid JSON (at byte 14)"},
		{``, "it is not valid JSON (at byte 0)"},
	} {
		var into struct {
			Issuer string `json:"issuer"`
		}
		err := DecodeJSON([]byte(test.body), &into)
		if got := ""; err != nil {
			got = err.Error()
			if got != test.want {
				t.Errorf("%.40s: error %q, want %q", test.body, got, test.want)
			}
		} else if test.want != "" {
			t.Errorf("%.40s: no error, want %q", test.body, test.want)
		}
	}
}

func FuzzDecodeJSON(f *testing.F) {
	f.Add([]byte(`{"a":[{"b":"\"]"}]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		var into any
		if err := DecodeJSON(body, &into); err == nil && depth(into) > maxDepth {
			t.Errorf("%q is too deep", body)
		}
	})
}

func depth(value any) int {
	deepest := 0
	switch value := value.(type) {
	case []any:
		for _, inner := range value {
			deepest = max(deepest, depth(inner))
		}
	case map[string]any:
		for _, inner := range value {
			deepest = max(deepest, depth(inner))
		}
	default:
		return 0
	}
	return deepest + 1
}
