package audit

import (
	"bufio"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"time"
)

// Formats are the formats of Export.
var Formats = []string{"ocsf", "cloudevents"}

// Export writes the lines of a log, which is a folder or one file, in another format, one JSON object in each line. It
// verifies nothing.
func Export(out io.Writer, path, format string) error {
	files, err := filesAt(path)
	if err != nil {
		return err
	}
	convert := toOCSF
	if format == "cloudevents" {
		convert = toCloudEvent
	}
	buffered := bufio.NewWriter(out)
	encoder := json.NewEncoder(buffered)
	encoder.SetEscapeHTML(false)
	var failed error
	skipped := 0
	err = eachLine(files, func(at textLine) bool {
		known, ok := parseLine(at.text)
		var all map[string]any
		if !ok || at.isLong || json.Unmarshal(at.text, &all) != nil {
			skipped++
			return true
		}
		failed = encoder.Encode(convert(known, all, sha256.Sum256(at.text)))
		return failed == nil
	})
	for _, problem := range []error{err, failed, buffered.Flush()} {
		if problem != nil {
			return problem
		}
	}
	if skipped > 0 {
		return fmt.Errorf("%d lines cannot be read and were left out", skipped)
	}
	return nil
}

func text(all map[string]any, name string) string {
	value, _ := all[name].(string)
	return value
}

// subjectOf names what a line is about, such as toolbox/server/tool.
func subjectOf(all map[string]any) (subject string) {
	for _, name := range []string{"toolbox", "server", "gen_ai.tool.name"} {
		if value := text(all, name); value != "" {
			if subject != "" {
				subject += "/"
			}
			subject += value
		}
	}
	return subject
}

// toCloudEvent returns a line as an event of CloudEvents 1.0.
func toCloudEvent(known line, all map[string]any, sum hash) any {
	return struct {
		SpecVersion string         `json:"specversion"`
		ID          string         `json:"id"`
		Source      string         `json:"source"`
		Type        string         `json:"type"`
		Time        time.Time      `json:"time"`
		Subject     string         `json:"subject,omitempty"`
		ContentType string         `json:"datacontenttype"`
		Data        map[string]any `json:"data"`
	}{"1.0", sum.String(), "mcp-workbench/audit/" + url.PathEscape(known.Writer), "mcp_workbench.audit." + known.Event, known.Time, subjectOf(all), "application/json", all}
}
