package cli

// How all commands say what a name may be. See toolbox.Named.
const (
	serverWords = `SERVER is the name of a server, or TOOLBOX/SERVER where several toolboxes have one of
that name.`
	serverOrToolboxWords = `SERVER is the name of a server, or TOOLBOX/SERVER where several toolboxes have one of
that name. TOOLBOX stands for all of its servers.`
	toolWords = `TOOL is the name of a tool, or SERVER/TOOL or TOOLBOX/SERVER/TOOL where several have one of
that name.`
)
