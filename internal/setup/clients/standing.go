package clients

import "slices"

// Standing is what a client gets of the workbench through an entry.
type Standing struct {
	Toolbox string // the only toolbox; "": all
	// Obstacle is why the entry may not lead to everything in it; "" if it does.
	Obstacle string
}

// Standing returns what a client gets once the entry is put into its file: a person may have added arguments, variables and
// other settings to the entry that is there.
func (c *Client) Standing(file string, data []byte, e Entry) (Standing, error) {
	after, err := c.Put(file, data, e)
	if err != nil || formatOf(file) == shellFormat {
		return Standing{}, err
	}
	root, err := parse(file, after)
	if err != nil {
		return Standing{}, broken(file, err)
	}
	entry, _ := find(root.at(c.servers), e.Name)
	args, _ := WorkbenchArgs(commandWords(entry))
	standing := Standing{Toolbox: flagValue(args, "--toolbox")}
	server, err := c.translate(&translator{syntax: c.variables}, member{e.Name, entry})
	movesConfig := slices.ContainsFunc(server.Env, func(s Setting) bool {
		return slices.Contains([]string{"WORKBENCH_CONFIG", "XDG_CONFIG_HOME", "HOME", "USERPROFILE", "APPDATA"}, s.Name)
	})
	switch {
	case err != nil:
		standing.Obstacle = "the entry of the workbench there is not understood: " + err.Error()
	case server.Disabled:
		standing.Obstacle = "the workbench is disabled there"
	case server.Tools != nil || len(server.Notes) > 0:
		standing.Obstacle = "the client uses only some of the workbench's tools"
	case movesConfig && flagValue(args, "--config") == "":
		standing.Obstacle = "the variables of the workbench's entry there may lead to another configuration"
	}
	return standing, nil
}
