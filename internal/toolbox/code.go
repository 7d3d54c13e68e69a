package toolbox

// Code names a kind of error for scripts and for docs/errors.md, which explains each. It
// never changes.
type Code string

// The kinds of errors.
const (
	NeedsClient      Code = "needs-client"
	NotTrusted       Code = "not-trusted"
	RecordingExists  Code = "recording-exists"
	RecordingInvalid Code = "recording-invalid"
	ReplayMismatch   Code = "replay-mismatch"
	ServerNotFound   Code = "server-not-found"
	ToolboxNotFound  Code = "toolbox-not-found"
)
