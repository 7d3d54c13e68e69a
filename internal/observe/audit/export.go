package audit

import (
	"bufio"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
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
		if !ok || !at.isWhole || json.Unmarshal(at.text, &all) != nil {
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
	}{"1.0", sum.String(), "mcp-workbench/audit/" + known.Writer, "mcp_workbench.audit." + known.Event, known.Time, subjectOf(all), "application/json", all}
}

// Numbers of OCSF: the class API Activity, its activity Other, and states.
const (
	ocsfVersion    = "1.6.0"
	ocsfClass      = 6003
	ocsfCategory   = 6
	ocsfOther      = 99
	ocsfInfo       = 1 // severity
	ocsfMedium     = 3
	ocsfSuccess    = 1 // status
	ocsfFailure    = 2
	ocsfNoStatus   = 0
	ocsfAllowed    = 1 // action
	ocsfDenied     = 2
	ocsfUnknown    = 0
	ocsfHasherName = "SHA-256"
)

// toOCSF returns a line as an event of the class API Activity of OCSF.
func toOCSF(known line, all map[string]any, sum hash) any {
	status, severity, action := ocsfState(known)
	event := map[string]any{
		"class_uid": ocsfClass, "class_name": "API Activity", "category_uid": ocsfCategory, "category_name": "Application Activity",
		"activity_id": ocsfOther, "activity_name": known.Event, "type_uid": ocsfClass*100 + ocsfOther,
		"time": known.Time.UnixMilli(), "severity_id": severity, "status_id": status, "status_detail": known.Outcome, "action_id": action,
		"metadata": map[string]any{
			"version": ocsfVersion, "uid": sum.String(), "sequence": known.Seq, "original_time": known.Time, "log_name": "audit",
			"product": map[string]any{"name": "MCP Workbench", "vendor_name": "MCP Workbench"},
		},
		"actor":        map[string]any{"user": map[string]any{"name": text(all, "caller")}, "app_name": text(all, "client")},
		"api":          map[string]any{"operation": operationOf(known, all), "service": map[string]any{"name": text(all, "server")}, "request": map[string]any{"uid": known.Call}},
		"src_endpoint": map[string]any{"ip": text(all, "client.address"), "name": known.Writer},
		"unmapped":     all,
	}
	if subject := subjectOf(all); subject != "" {
		resource := map[string]any{"name": subject, "type": "tool"}
		if definition := text(all, "definition"); definition != "" {
			resource["data"] = map[string]any{"algorithm": ocsfHasherName, "definition": definition}
		}
		event["resources"] = []any{resource}
	}
	if ms, ok := all["ms"].(float64); ok {
		event["duration"] = int64(ms)
	}
	return event
}

func operationOf(known line, all map[string]any) string {
	if method := text(all, "mcp.method.name"); method != "" {
		return method
	}
	return known.Event
}

// ocsfState returns what a line means in numbers of OCSF.
func ocsfState(known line) (status, severity, action int) {
	switch known.Outcome {
	case "refused", "no", "unanswered":
		return ocsfFailure, ocsfMedium, ocsfDenied
	case "failed", "error", "tool_error", "crashed", "cancelled":
		return ocsfFailure, ocsfInfo, ocsfAllowed
	case "admitted", "ok", "once", "same", "session", "created", "started":
		return ocsfSuccess, ocsfInfo, ocsfAllowed
	case "changed", "cut", "torn", "killed":
		return ocsfNoStatus, ocsfMedium, ocsfUnknown
	}
	return ocsfNoStatus, ocsfInfo, ocsfUnknown
}
