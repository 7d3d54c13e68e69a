package page

import (
	"net/http"
	"time"
)

const keepAlive = 10 * time.Second // without a line, until an empty one is sent

// serveWatch sends what changes in all workbenches until the tab is closed.
func (p *Page) serveWatch(w http.ResponseWriter, r *http.Request) {
	t, ok := p.watch.join()
	if !ok {
		refuse(w, http.StatusServiceUnavailable, "Too many tabs show the page", "Close one, and reload.")
		return
	}
	defer p.watch.leave(t)
	w.Header().Set("Content-Type", "application/x-ndjson")
	out, idle, who := http.NewResponseController(w), time.NewTicker(keepAlive), personOf(r)
	defer idle.Stop()
	for {
		var lines [][]byte
		select {
		case <-t.more:
			lines = p.watch.take(t)
		case <-idle.C:
			if who.ends() {
				return
			}
			lines = [][]byte{[]byte("{}\n")}
		case <-r.Context().Done():
			return
		}
		for _, line := range lines {
			if _, err := w.Write(line); err != nil {
				return
			}
		}
		if out.Flush() != nil {
			return
		}
	}
}
