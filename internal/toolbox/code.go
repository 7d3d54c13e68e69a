package toolbox

// Code names a kind of error for scripts and for docs/errors.md, which explains each. It
// never changes.
type Code string

// The kinds of errors.
const (
	ToolboxNotFound Code = "toolbox-not-found"
)
