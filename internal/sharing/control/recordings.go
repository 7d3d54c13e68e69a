package control

import "time"

// RecordingInfo describes a recording of the messages between a running workbench and one of its servers.
type RecordingInfo struct {
	Name     string    `json:"name"`
	Path     string    `json:"path"`
	Toolbox  string    `json:"toolbox"`
	Server   string    `json:"server"`
	At       time.Time `json:"at"`             // when it began
	Until    time.Time `json:"until,omitzero"` // when it will end, while it runs
	Running  bool      `json:"running,omitempty"`
	Messages int       `json:"messages"`
	Size     int64     `json:"bytes"`
}
