package app

import (
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/observe/recording"
	"github.com/mcp-workbench/mcp-workbench/internal/sharing/control"
)

// openRecordings prepares to record servers.
func (a *App) openRecordings(options *Options) {
	a.recordings = recording.NewBook(recording.Options{
		Folder: recording.Folder(options.StateDir), By: "mcp-workbench " + options.Version, Mask: a.Mask, Log: a.log,
	})
	a.onStop("recordings", a.recordings.Close) // after the servers, with which the last messages come
}

// Recordings implements control.Subject.
func (i Inspector) Recordings() *recording.Book { return i.App.recordings }

// RunningRecordings returns the recordings that run now, the newest first.
func (i Inspector) RunningRecordings() []control.RecordingInfo {
	all := []control.RecordingInfo{}
	for _, info := range i.App.recordings.Running() {
		all = append(all, control.RecordingInfo(info))
	}
	return all
}

// Record implements control.Subject.
func (i Inspector) Record(box, server string, span time.Duration) (recording.Info, error) {
	found, err := i.server(box, server)
	if err != nil {
		return recording.Info{}, err
	}
	return i.App.recordings.Start(recording.Source{Toolbox: box, Server: server, Taps: found.Taps(), Listed: found.Listed}, span)
}
