package tokencost

// Document is a bill for scripts.
type Document struct {
	Toolboxes []boxCost   `json:"toolboxes"`
	Direct    int         `json:"direct"` // tokens of all tools, as servers list them
	Start     startTokens `json:"start"`
	Saved     int         `json:"saved"` // at the start; below 0 if the workbench costs more
	Opened    tokens      `json:"opened"`
	Brief     bool        `json:"openBrief"` // open_toolbox answers in brief
}

type (
	tokens struct {
		Full  int `json:"full"`
		Brief int `json:"brief"`
	}
	// startTokens are what a client gets from the workbench at the start.
	startTokens struct {
		Total        int `json:"total"`
		MetaTools    int `json:"metaTools"`
		Instructions int `json:"instructions"`
		Pinned       int `json:"pinned"`
	}
	boxCost struct {
		Name string `json:"name"`
		tokens
		Servers []serverCost `json:"servers"`
	}
	serverCost struct {
		Name string `json:"name"`
		tokens
		Tools []toolCost `json:"tools"`
		Error string     `json:"error,omitempty"` // why its tools are not known
	}
	toolCost struct {
		Name string `json:"name"`
		tokens
	}
)

// Document returns the bill for scripts.
func (b *Bill) Document() Document {
	d := Document{
		Toolboxes: []boxCost{}, Direct: b.listed, Opened: b.opened.exported(), Brief: b.brief,
		Start: startTokens{Instructions: b.instructions, Pinned: b.pinned},
	}
	for _, one := range b.ours {
		d.Start.MetaTools += one
	}
	d.Start.Total = d.Start.MetaTools + d.Start.Instructions + d.Start.Pinned
	d.Saved = d.Direct - d.Start.Total
	for _, l := range b.lines {
		switch l.depth {
		case 0:
			d.Toolboxes = append(d.Toolboxes, boxCost{l.name, l.exported(), []serverCost{}})
		case 1:
			server := serverCost{Name: l.name, tokens: l.exported(), Tools: []toolCost{}}
			if l.err != nil {
				server.Error = l.err.Error()
			}
			box := &d.Toolboxes[len(d.Toolboxes)-1]
			box.Servers = append(box.Servers, server)
		default:
			box := &d.Toolboxes[len(d.Toolboxes)-1]
			server := &box.Servers[len(box.Servers)-1]
			server.Tools = append(server.Tools, toolCost{l.name, l.exported()})
		}
	}
	return d
}

func (c cost) exported() tokens { return tokens{c.full, c.brief} }
