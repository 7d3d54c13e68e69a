package mcptest

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
)

// This file is the text of server-sent events, written and read.

// writeEvent sends one event. A name may be empty.
func writeEvent(w http.ResponseWriter, name string, data []byte) error {
	var event bytes.Buffer
	if name != "" {
		fmt.Fprintf(&event, "event: %s\n", name)
	}
	// A carriage return ends a line of an event stream as a line feed does.
	for line := range bytes.SplitSeq(bytes.ReplaceAll(data, []byte("\r"), []byte("\n")), []byte("\n")) {
		event.WriteString("data: ")
		event.Write(line)
		event.WriteByte('\n')
	}
	event.WriteByte('\n')
	if _, err := w.Write(event.Bytes()); err != nil {
		return err
	}
	return http.NewResponseController(w).Flush()
}

// beginEvents sends the header of an event stream.
func beginEvents(w http.ResponseWriter) error {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusOK)
	return http.NewResponseController(w).Flush()
}

// event is one server-sent event.
type event struct {
	name, id string
	data     []byte
}

// eventReader takes an event stream apart.
type eventReader struct{ in *bufio.Reader }

func newEventReader(in io.Reader) *eventReader { return &eventReader{bufio.NewReaderSize(in, 64<<10)} }

// next returns the next event that has data. What was begun when the stream ends is no
// event.
func (r *eventReader) next() (event, error) {
	var e event
	var data [][]byte
	for {
		line, err := r.in.ReadBytes('\n')
		if err != nil {
			return event{}, err
		}
		line = bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
		if len(line) == 0 {
			if e.data = bytes.Join(data, []byte("\n")); len(e.data) > 0 {
				return e, nil
			}
			e, data = event{}, nil
			continue
		}
		field, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(field) {
		case "data":
			data = append(data, value)
		case "event":
			e.name = string(value)
		case "id":
			e.id = string(value)
		}
	}
}
