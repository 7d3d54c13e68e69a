package control

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/observe/recording"
)

// RecordingInfo describes a recording of the messages between a running workbench and one of its servers.
type RecordingInfo struct {
	Name     string    `json:"name"`
	Path     string    `json:"path"`
	Toolbox  string    `json:"toolbox"`
	Server   string    `json:"server"`
	At       time.Time `json:"at"`                // when it began
	Until    time.Time `json:"until,omitzero"`    // when it will end, while it runs
	Running  bool      `json:"running,omitempty"` // in this workbench
	Waiting  bool      `json:"waiting,omitempty"` // for the first request to the server, which may not run yet
	Messages int       `json:"messages"`
	Size     int64     `json:"bytes"`
	Lost     int       `json:"lost,omitempty"`  // messages that are missing
	Ended    string    `json:"ended,omitempty"` // why it ended: "time", "stopped", "full", "failed", "shutdown"
}

// recordingList is the answer with all recordings.
type recordingList struct {
	Recordings []RecordingInfo `json:"recordings"` // the newest first
}

const (
	recordPath        = "/v1/record"
	recordStopPath    = "/v1/record/stop"
	recordingsPath    = "/v1/recordings"
	recordingPath     = "/v1/recording"
	recordingHTMLPath = "/v1/recording/html"

	secondsParameter = "seconds"
	nameParameter    = "name"
)

// handleRecordings adds the requests about recordings.
func handleRecordings(mux *http.ServeMux, subject Subject) {
	mux.HandleFunc("POST "+recordPath, func(w http.ResponseWriter, r *http.Request) {
		query := r.URL.Query()
		span, err := spanOf(query.Get(secondsParameter))
		if err != nil {
			refuse(w, err)
			return
		}
		answerInfo(w)(subject.Record(query.Get(toolboxParameter), query.Get(serverParameter), span))
	})
	mux.HandleFunc("POST "+recordStopPath, func(w http.ResponseWriter, r *http.Request) {
		answerInfo(w)(subject.Recordings().Stop(r.Context(), r.URL.Query().Get(nameParameter)))
	})
	mux.HandleFunc("GET "+recordingsPath, func(w http.ResponseWriter, _ *http.Request) {
		all, err := subject.Recordings().List()
		if err != nil {
			refuse(w, err)
			return
		}
		answer(w, recordingList{infos(all)})
	})
	mux.HandleFunc("GET "+recordingPath, func(w http.ResponseWriter, r *http.Request) {
		sendRecording(w, r, subject, "application/x-ndjson", func(dst io.Writer, src io.Reader) error {
			_, err := io.Copy(dst, src)
			return err
		})
	})
	mux.HandleFunc("GET "+recordingHTMLPath, func(w http.ResponseWriter, r *http.Request) {
		sendRecording(w, r, subject, "text/html; charset=utf-8", recording.WriteHTML)
	})
}

// spanOf returns how long to record.
func spanOf(seconds string) (time.Duration, error) {
	if seconds == "" {
		return recording.DefaultSpan, nil
	}
	n, err := strconv.Atoi(seconds)
	if err != nil || n < 1 || n > int(recording.LongestSpan.Seconds()) {
		return 0, fmt.Errorf("the number of seconds must be from 1 to %.0f", recording.LongestSpan.Seconds())
	}
	return time.Duration(n) * time.Second, nil
}

func answerInfo(w http.ResponseWriter) func(recording.Info, error) {
	return func(info recording.Info, err error) {
		if err != nil {
			refuse(w, err)
			return
		}
		answer(w, RecordingInfo(info))
	}
}

func infos(all []recording.Info) []RecordingInfo {
	converted := make([]RecordingInfo, len(all))
	for i, info := range all {
		converted[i] = RecordingInfo(info)
	}
	return converted
}

// sendRecording writes the recording that a request names.
func sendRecording(w http.ResponseWriter, r *http.Request, subject Subject, contentType string, write func(io.Writer, io.Reader) error) {
	file, err := subject.Recordings().Open(r.URL.Query().Get(nameParameter))
	if err != nil {
		refuse(w, err)
		return
	}
	defer file.Close()
	w.Header().Set("Content-Type", contentType)
	_ = write(patientWriter{w, http.NewResponseController(w)}, file) // an answer that is cut off is an error for who reads it
}

// patientWriter gives each part of a long answer its time.
type patientWriter struct {
	dst io.Writer
	out *http.ResponseController
}

func (p patientWriter) Write(part []byte) (int, error) {
	_ = p.out.SetWriteDeadline(time.Now().Add(writeTime))
	return p.dst.Write(part)
}

// Record begins to record a server for a time.
func (c *Client) Record(ctx context.Context, server Server, span time.Duration) (RecordingInfo, error) {
	query := about(server)
	query.Set(secondsParameter, strconv.Itoa(int(span.Seconds())))
	return c.recordingInfo(ctx, recordPath, query)
}

// StopRecording ends a recording, and waits until its file is complete.
func (c *Client) StopRecording(ctx context.Context, name string) (RecordingInfo, error) {
	return c.recordingInfo(ctx, recordStopPath, url.Values{nameParameter: {name}})
}

func (c *Client) recordingInfo(ctx context.Context, path string, query url.Values) (info RecordingInfo, err error) {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	body, err := c.send(ctx, http.MethodPost, path, query)
	if err != nil {
		return info, err
	}
	defer body.Close()
	return info, json.NewDecoder(io.LimitReader(body, maxAnswer)).Decode(&info)
}

// Recordings returns all recordings, the newest first.
func (c *Client) Recordings(ctx context.Context) ([]RecordingInfo, error) {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	body, err := c.send(ctx, http.MethodGet, recordingsPath, nil)
	if err != nil {
		return nil, err
	}
	defer body.Close()
	var all recordingList
	return all.Recordings, json.NewDecoder(io.LimitReader(body, maxAnswer)).Decode(&all)
}

// CopyRecording copies the file of a recording.
func (c *Client) CopyRecording(ctx context.Context, name string, dst io.Writer) error {
	body, err := c.send(ctx, http.MethodGet, recordingPath, url.Values{nameParameter: {name}})
	if err != nil {
		return err
	}
	defer body.Close()
	_, err = io.Copy(dst, body)
	return err
}
