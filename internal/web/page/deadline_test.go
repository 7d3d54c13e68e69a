package page

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/access/httpauth"
)

// reused is a response on a connection on which a former one left a deadline that has passed.
type reused struct {
	*httptest.ResponseRecorder
	deadline time.Time
	isCut    bool
}

func (r *reused) SetWriteDeadline(deadline time.Time) error {
	r.deadline = deadline
	return nil
}

func (r *reused) check() { r.isCut = r.isCut || !r.deadline.IsZero() && !r.deadline.After(time.Now()) }

func (r *reused) WriteHeader(status int) {
	r.check()
	r.ResponseRecorder.WriteHeader(status)
}

func (r *reused) Write(part []byte) (int, error) {
	r.check()
	return r.ResponseRecorder.Write(part)
}

// The deadline of a response cuts no later one of the same connection, whoever writes it.
func TestDeadlinesEndWithTheirResponse(t *testing.T) {
	p := newTestPage(t, Options{Sessions: true})
	handler := Guard(httpauth.NewGate(p, httpauth.GateOptions{Log: p.options.Log}))
	for _, test := range []struct {
		path, host string
		status     int
		limited    bool
	}{
		{"/", "127.0.0.1", http.StatusFound, false},
		{"/other", "127.0.0.1", http.StatusNotFound, false},
		{"/ui/", "127.0.0.1", http.StatusOK, true},
		{"/ui/other", "127.0.0.1", http.StatusNotFound, true},
		{"/ui/api/hello", "127.0.0.1", http.StatusUnauthorized, true},
		{"/ui/", "example.com", http.StatusForbidden, true},
		{"/ui/assets/style.css", "127.0.0.1", http.StatusOK, true},
	} {
		r := httptest.NewRequest(http.MethodGet, test.path, nil)
		r.Host, r.RemoteAddr = test.host, "127.0.0.1:2"
		r = r.WithContext(context.WithValue(t.Context(), http.LocalAddrContextKey, &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1}))
		w := &reused{ResponseRecorder: httptest.NewRecorder(), deadline: time.Now().Add(-time.Second)}
		handler.ServeHTTP(w, r)
		if w.Code != test.status || w.isCut {
			t.Errorf("%s of %s: %d, cut: %t", test.path, test.host, w.Code, w.isCut)
		}
		if left := time.Until(w.deadline); test.limited && (left <= 0 || left > writeTime) {
			t.Errorf("%s of %s: the deadline is %s", test.path, test.host, w.deadline)
		}
	}
}
