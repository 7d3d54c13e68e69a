package control

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// Each page of several may have that many requests open; commands such as 'ps' need connections as well.
func TestPagesLeaveRoomForCommands(t *testing.T) {
	busy, end := make(chan struct{}), make(chan struct{})
	serve := noteActions(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		busy <- struct{}{}
		<-end
	}), nil)
	request := func(from string) *httptest.ResponseRecorder {
		r, w := httptest.NewRequestWithContext(t.Context(), http.MethodGet, logsPath, nil), httptest.NewRecorder()
		r.Header.Set(pageHeader, from)
		serve.ServeHTTP(w, r)
		return w
	}
	ended := make(chan int, maxPageRequests+1)
	for range maxPageRequests {
		go func() { ended <- request("terminal").Code }()
		<-busy
	}
	if got := request("terminal").Code; got != http.StatusConflict {
		t.Errorf("one more request of a page got %d", got)
	}
	go func() { ended <- request("").Code }() // a command
	<-busy
	close(end)
	for range maxPageRequests + 1 {
		if got := <-ended; got != http.StatusOK {
			t.Error(got)
		}
	}
}
