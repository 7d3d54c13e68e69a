package toolbox

// Code names a kind of error for scripts and for docs/errors.md, which explains each. It
// never changes.
type Code string

// The kinds of errors.
const (
	AmbiguousName     Code = "ambiguous-name"
	ClientFileBroken  Code = "client-file-broken"
	ClientFileRefused Code = "client-file-refused"
	ClientFileUnknown Code = "client-file-unknown"
	ClientNameTaken   Code = "client-name-taken"
	NeedsClient       Code = "needs-client"
	NeedsTerminal     Code = "needs-terminal"
	NotRunning        Code = "not-running"
	NotTrusted        Code = "not-trusted"
	RecordingExists   Code = "recording-exists"
	RecordingInvalid  Code = "recording-invalid"
	ReplayMismatch    Code = "replay-mismatch"
	RestartFailed     Code = "restart-failed"
	ServerNotFound    Code = "server-not-found"
	SeveralRunning    Code = "several-running"
	ToolboxNotFound   Code = "toolbox-not-found"
)
