package policy

import (
	"encoding/base64"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/mcp-workbench/mcp-workbench/internal/base/secret"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// search finds the secrets of known forms in a JSON value: in strings, in the names of members, and in text that is
// encoded as the content of a resource.
type search struct {
	isAnswer   bool // of a server: some parts are for programs only, and stay as they are
	inQuestion bool // of a server to a person

	kind  string // of the first secret; "" if there is none
	path  string // to it
	edits []wire.Edit
}

// place is where a value is.
type place struct {
	parent *place // nil: the whole value
	name   string // of a member; otherwise index counts
	index  int
}

const (
	// shortestSecret is the length of the shortest string that can hold a secret, with its quotes.
	shortestSecret = 14
	maxPathName    = 64 // bytes of a member's name that are shown in the path to a secret
)

// FindSecret returns where the first secret of a known form is in the arguments of a call, and its kind; both are "" if
// there is none.
func FindSecret(arguments wire.Payload) (argument, kind string) {
	if arguments.IsAbsent() {
		return "", ""
	}
	found := search{}
	found.value(arguments, nil)
	return found.path, found.kind
}

// value searches a value.
func (s *search) value(v wire.Payload, at *place) {
	switch v.Kind() {
	case "object":
		s.object(v, at)
	case "array":
		i := 0
		for element := range v.Elements() {
			s.value(element, &place{parent: at, index: i})
			i++
		}
	case "string":
		if len(v.Bytes()) >= shortestSecret {
			text, _ := v.Text()
			if masked, kind := secret.MaskForms(text); kind != "" {
				s.add(v, masked, kind, at)
			}
		}
	}
}

func (s *search) object(v wire.Payload, at *place) {
	var taken []string // names that were masked
	for key, member := range v.Pairs() {
		name, _ := key.Text()
		below := &place{parent: at, name: name}
		if s.isOpaque(v, name, at) {
			continue
		}
		if masked, kind := secret.MaskForms(name); kind != "" {
			for slices.Contains(taken, masked) {
				masked += "'" // so that no member replaces another
			}
			taken = append(taken, masked)
			s.add(key, masked, kind, at)
		}
		wasInQuestion := s.inQuestion
		s.inQuestion = s.inQuestion || isForPerson(name, at)
		if s.isAnswer && member.Kind() == "string" && isEncoded(v, name) {
			s.blob(member, below)
		} else {
			s.value(member, below)
		}
		s.inQuestion = wasInQuestion
	}
}

// isForPerson reports whether a member of an answer holds questions to a person: those of a result, or of an error that
// asks for a page to be opened first.
func isForPerson(name string, at *place) bool {
	return at == nil && name == "inputRequests" || at != nil && at.parent == nil && at.name == "data" && name == "elicitations"
}

// isOpaque reports whether a member of an answer is not for the model: the client's program sends it back as it is, or a
// person opens it.
func (s *search) isOpaque(object wire.Payload, name string, at *place) bool {
	if !s.isAnswer {
		return false
	}
	switch name {
	case "requestState", "taskId", "nextCursor", "progressToken", "elicitationId":
		return at == nil || at.parent == nil && at.name == "task"
	case "url":
		mode, _ := object.Member("mode").Text()
		return s.inQuestion && mode == "url"
	}
	return false
}

// isEncoded reports whether a member of an answer is content in base64.
func isEncoded(object wire.Payload, name string) bool {
	switch name {
	case "blob":
		return true
	case "data":
		kind, _ := object.Member("type").Text()
		return kind == "image" || kind == "audio"
	}
	return false
}

// blob searches the content of a resource, or of an image. Content that is not text is not searched.
func (s *search) blob(v wire.Payload, at *place) {
	encoded, _ := v.Text()
	content, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		s.value(v, at)
		return
	}
	if !utf8.Valid(content) {
		return
	}
	if masked, kind := secret.MaskForms(string(content)); kind != "" {
		s.add(v, base64.StdEncoding.EncodeToString([]byte(masked)), kind, at)
	}
}

func (s *search) add(part wire.Payload, masked, kind string, at *place) {
	if s.kind == "" {
		if s.kind, s.path = kind, at.String(); s.path == "" {
			s.path = secret.Mask // the name of a member
		}
	}
	s.edits = append(s.edits, wire.Edit{Part: part, With: wire.AppendString(nil, masked)})
}

// masked returns the value with all secrets masked, and otherwise unchanged.
func (s *search) masked(v wire.Payload) wire.Payload {
	return wire.Raw(wire.AppendEdited(nil, v, s.edits...))
}

// String returns the path, such as content[0].text, without secrets.
func (p *place) String() string {
	if p == nil {
		return ""
	}
	before := p.parent.String()
	if p.name == "" {
		return fmt.Sprintf("%s[%d]", before, p.index)
	}
	name, _ := secret.MaskForms(p.name)
	if len(name) > maxPathName {
		name = fmt.Sprintf("%.60s…", name)
	}
	if before == "" {
		return name
	}
	return before + "." + name
}
