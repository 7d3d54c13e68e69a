package control

// DefinitionChange is a definition of a tool, or the instructions of a server, that changed and was not accepted.
type DefinitionChange struct {
	Toolbox  string     `json:"toolbox"`
	Server   string     `json:"server"`
	Tool     string     `json:"tool,omitempty"`     // "" for the instructions
	Withheld string     `json:"withheld,omitempty"` // why clients do not get it; "" if they do, with a warning
	New      bool       `json:"new,omitempty"`      // there was none before
	Hints    bool       `json:"hints,omitempty"`    // the annotations changed, and do not count until it is accepted
	Diff     []DiffLine `json:"diff,omitempty"`     // nil if the former content is not known
	Hash     string     `json:"hash"`               // of the new one: what is accepted
	Command  string     `json:"command"`            // that accepts it, too
}

// DiffLine is one line of a diff. Invisible characters are drawn, as ⟨U+200B⟩, and secrets masked.
type DiffLine struct {
	Op   string `json:"op"` // " ", "-", "+"
	Text string `json:"text"`
}
