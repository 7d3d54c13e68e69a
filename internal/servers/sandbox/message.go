package sandbox

// report is what the launcher tells the workbench, as JSON. The first one comes once the rights are given up, with the
// file descriptor of the warden. A second one means that the server could not be executed.
type report struct {
	Gaps  []string `json:"gaps,omitempty"`  // what the kernel lacks; with BestEffort
	Error string   `json:"error,omitempty"` // why there is no sandbox
	Fix   string   `json:"fix,omitempty"`
	Errno int      `json:"errno,omitempty"` // why the server could not be executed
}

// maxPlan bounds the plan as JSON, in bytes. A longer one is an error.
const maxPlan = 512 << 10
