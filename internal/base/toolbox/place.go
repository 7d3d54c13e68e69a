package toolbox

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Place is a server in a toolbox; without a server, the toolbox.
type Place struct{ Toolbox, Server string }

// String returns the reference that is valid wherever a place is named: TOOLBOX/SERVER, or TOOLBOX.
func (p Place) String() string {
	if p.Server == "" {
		return p.Toolbox
	}
	return p.Toolbox + "/" + p.Server
}

// Meaning is what a name on a command line may be for.
type Meaning int

// A name that both a toolbox and a server have means the toolbox where that does no harm. Where it may, the person has to say which.
const (
	ServerOnly    Meaning = iota
	ToolboxFirst          // for commands that only read
	ToolboxMarked         // for commands that change: TOOLBOX/ is the toolbox then
	ToolboxOnly
)

// Named finds places by the names that people use for them: SERVER where only one toolbox has it, else TOOLBOX/SERVER, and TOOLBOX.
// Names may hold slashes, so that a name is compared with what there is, and not taken apart.
type Named struct {
	Toolboxes []string
	Servers   []Place
	What      string // what the servers are, if they are not all: "remote server"
	Where     string // such as "in the configuration"
	Code      Code   // of the error for an unknown name
	List      string // the command that lists what there is
}

// Find returns the place that a name is for. A full reference wins over a short one. That of a server wins over a toolbox with a slash in
// its name, which can be marked by another slash.
func (n *Named) Find(name string, meaning Meaning) (Place, error) {
	box, isMarked := strings.CutSuffix(name, "/")
	var boxes, found []Place
	for _, one := range n.Toolboxes {
		if meaning != ServerOnly && (one == name || one == box) && len(boxes) == 0 {
			boxes = append(boxes, Place{Toolbox: one})
		}
	}
	for _, server := range n.Servers {
		switch {
		case meaning == ToolboxOnly:
		case server.String() == name && (len(boxes) == 0 || !isMarked):
			return server, nil
		case server.Server == name:
			if !slices.Contains(found, server) {
				found = append(found, server)
			}
		}
	}
	if len(boxes) > 0 && (isMarked || meaning == ToolboxFirst) {
		return boxes[0], nil
	}
	found = append(boxes, found...)
	switch len(found) {
	case 0:
		return Place{}, n.unknown(name, meaning)
	case 1:
		return found[0], nil
	}
	return Place{}, n.ambiguous(name, found)
}

// maxNamed is the number of references that an error lists; more are counted.
const maxNamed = 10

func (n *Named) ambiguous(name string, found []Place) error {
	var refs []string
	for _, place := range found {
		ref := place.String()
		if place.Server == "" {
			ref += "/"
		}
		refs = append(refs, ref)
	}
	err := Ambiguous(name, Count(len(found), "server", "servers"), refs)
	if found[0].Server == "" {
		err.Message = fmt.Sprintf("'%s' is ambiguous: it can be a toolbox or a server", oneLine(name))
	}
	return err
}

// Ambiguous is the error for a name of several things, such as "2 tools", with the references that tell them apart.
func Ambiguous(name, things string, refs []string) *Error {
	return &Error{
		Code:    AmbiguousName,
		Message: fmt.Sprintf("'%s' can be one of %s", oneLine(name), things),
		Hint:    "Write one of these: " + listed(refs),
	}
}

// Meant is the hint that suggests what was meant by an unknown name.
func Meant(near []string) string {
	return "Did you mean '" + oneLine(strings.Join(near, "' or '")) + "'?"
}

func (n *Named) unknown(name string, meaning Meaning) error {
	what := cmp.Or(n.What, "server")
	switch meaning {
	case ToolboxFirst, ToolboxMarked:
		what = "toolbox or " + what
	case ToolboxOnly:
		what = "toolbox"
	}
	err := &Error{Code: n.Code, Message: fmt.Sprintf("There is no %s '%s' %s", what, oneLine(name), n.Where)}
	if near := n.Nearest(name, meaning); len(near) > 0 {
		err.Hint = Meant(near)
		return err
	}
	kind, all := "toolboxes", n.Toolboxes
	if meaning != ToolboxOnly {
		kind, all = "servers", nil
		for _, server := range n.Servers {
			all = append(all, server.String())
		}
	}
	if len(all) > 0 && len(all) <= maxNamed {
		err.Hint = "The " + kind + " are: " + listed(all) + "\n"
	}
	err.Hint += "To see all: " + n.List
	return err
}

// MaxNear is the number of suggestions for an unknown name; others are left out.
const MaxNear = 3

// Nearest returns the references of places whose name, in any form, is similar.
func (n *Named) Nearest(name string, meaning Meaning) (near []string) {
	refs := make(map[string][]string)
	var forms []string
	add := func(form, ref string) {
		if refs[form] == nil {
			forms = append(forms, form)
		}
		refs[form] = append(refs[form], oneLine(ref))
	}
	if meaning != ServerOnly {
		for _, box := range n.Toolboxes {
			add(box, box)
		}
	}
	short := n.Short()
	for i, server := range n.Servers {
		if meaning == ToolboxOnly {
			break
		}
		if strings.Contains(name, "/") { // as it was typed
			short[i] = server.String()
		}
		add(server.Server, short[i])
		add(server.String(), short[i])
	}
	for _, form := range Nearest(name, forms, MaxNear) {
		for _, ref := range refs[form] {
			if !slices.Contains(near, ref) && len(near) < MaxNear {
				near = append(near, ref)
			}
		}
	}
	return near
}

// listed joins references for a hint.
func listed(refs []string) string {
	rest := ""
	if more := len(refs) - maxNamed; more > 0 {
		refs, rest = refs[:maxNamed], fmt.Sprintf(" and %d more", more)
	}
	return oneLine(strings.Join(refs, ", ")) + rest
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// Short returns the names that are enough for each server: SERVER where only one toolbox has it and no toolbox is called so, else
// TOOLBOX/SERVER.
func (n *Named) Short() []string {
	short := make([]string, len(n.Servers))
	for i, server := range n.Servers {
		short[i] = server.Server
		if found, err := n.Find(server.Server, ToolboxMarked); err != nil || found != server {
			short[i] = server.String()
		}
	}
	return short
}
