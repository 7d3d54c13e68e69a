package clients

import "strings"

// Selection is an entry of a client that starts the workbench for one toolbox.
type Selection struct {
	Client  *Client
	File    string
	Entry   string
	Toolbox string
	Config  string // the configuration that the entry names; "": none
}

// Selections returns the entries of a machine's clients that start the workbench for one toolbox. Files that cannot be
// read have none.
func Selections(m Machine) []Selection {
	var found []Selection
	for _, client := range All() {
		for _, file := range client.Files(m) {
			if formatOf(file) == shellFormat {
				continue
			}
			root, err := readTree(file)
			if err != nil {
				continue
			}
			for _, entry := range named(root.at(client.servers)) {
				args, ok := WorkbenchArgs(commandWords(entry.value))
				if box := flagValue(args, "--toolbox"); ok && box != "" {
					found = append(found, Selection{client, file, entry.name, box, flagValue(args, "--config")})
				}
			}
		}
	}
	return found
}

// flagValue returns the value of a flag in the workbench's arguments; "" without it.
func flagValue(args []string, name string) string {
	value := ""
	for _, flag := range splitFlags(args) {
		if flagName(flag) != name {
			continue
		}
		if _, after, ok := strings.Cut(flag[0], "="); ok {
			value = after
		} else if len(flag) > 1 {
			value = flag[1]
		}
	}
	return value
}
