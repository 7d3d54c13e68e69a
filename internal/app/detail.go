package app

import (
	"cmp"
	"fmt"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/fleet"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/process"
	"github.com/mcp-workbench/mcp-workbench/internal/sharing/control"
)

// Server implements control.Subject.
func (i Inspector) Server(key string) (control.ServerDetail, error) {
	keys := make(copyKeys)
	for _, glance := range i.App.fleet.Glances(nil) {
		if box, server := glance.Server(); keys.next(box, server) == key {
			return i.detail(key, &glance), nil
		}
	}
	return control.ServerDetail{}, &toolbox.Error{
		Code: toolbox.ServerNotFound, Message: fmt.Sprintf("There is no server '%s' in this workbench", tty.CleanLine(key)), Hint: "See: mcp-workbench ps",
	}
}

func (i Inspector) detail(key string, glance *fleet.Glance) control.ServerDetail {
	status := glance.Status()
	detail := control.ServerDetail{
		Server: row(key, &status), Software: status.Software, Steps: []control.Step{}, Processes: []control.Process{},
		Command: glance.Runs(), Config: i.fileOf(status.Toolbox),
	}
	for _, step := range status.Steps {
		state := "running"
		switch {
		case step.Done:
			state = "done"
		case step.Failed:
			state = "failed"
		}
		detail.Steps = append(detail.Steps, control.Step{Name: step.Name, State: state, Detail: step.Detail, Took: seconds(step.Took)})
	}
	if status.PID != 0 {
		for _, one := range process.Tree(status.PID) {
			detail.Memory += one.Memory
			detail.Processes = append(detail.Processes, control.Process{PID: one.PID, Parent: one.Parent, Name: tty.CleanLine(i.App.Mask(one.Name)), Memory: one.Memory})
		}
	}
	return detail
}

// fileOf returns the file that has a toolbox; "" for the built-in default.
func (i Inspector) fileOf(box string) string {
	cfg := i.App.config.Load()
	for n := range cfg.Toolboxes {
		if one := &cfg.Toolboxes[n]; one.Name == box {
			return cmp.Or(one.File, cfg.Path)
		}
	}
	return cfg.Path
}
