package clients

import "strings"

// Text is a text in a file with its name: its key, or the flag before it.
type Text struct{ Name, Value string }

// Texts returns all texts of a file; none if it cannot be read.
func Texts(file string, data []byte) []Text {
	root, err := parse(file, data)
	if err != nil {
		return nil
	}
	return root.texts(nil, "")
}

func (v value) texts(found []Text, name string) []Text {
	switch v.kind {
	case text:
		found = append(found, Text{name, v.text})
		for _, separator := range []string{"=", ":"} { // --token=x, TOKEN=x, Authorization: x
			if label, rest, ok := strings.Cut(v.text, separator); ok {
				found = append(found, Text{strings.TrimLeft(label, "-"), strings.TrimSpace(rest)})
			}
		}
	case object:
		for _, m := range v.members {
			found = m.value.texts(found, m.name)
		}
	case list:
		flag := name
		for _, item := range v.items {
			found = item.texts(found, flag)
			flag = name
			if item.kind == text && strings.HasPrefix(item.text, "-") {
				flag = strings.TrimLeft(item.text, "-")
			}
		}
	}
	return found
}
