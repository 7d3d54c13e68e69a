package clients

import "slices"

// build makes the entry and keeps existing members that are not the workbench's.
func (c *Client) build(e Entry, before value) value {
	fields := c.entry
	if e.Remote != nil {
		fields = c.remote
	}
	entry := value{kind: object, members: slices.Clone(before.members)}
	switch wasRemote := addressOf(before) != ""; {
	case wasRemote != (e.Remote != nil):
		entry.members = slices.DeleteFunc(entry.members, func(m member) bool {
			return slices.Contains(localKeys, m.name) || slices.Contains(remoteKeys, m.name)
		})
	case wasRemote && !e.Remote.isSameHost(before): // what was sent to another host may be secret
		entry.members = slices.DeleteFunc(entry.members, func(m member) bool {
			isFilled := slices.ContainsFunc(fields, func(f field) bool { return f.name == m.name })
			return slices.Contains(remoteKeys, m.name) && !isFilled
		})
	}
	for _, f := range fields {
		v := c.fill(f.value, e, before)
		i := slices.IndexFunc(entry.members, func(m member) bool { return m.name == f.name })
		switch {
		case v.kind == nothing:
			entry = entry.with(f.name, v, false)
		case i < 0:
			entry.members = append(entry.members, member{f.name, v})
		case f.value == emptyObject || f.value == emptyList || f.value == no:
			// An empty value is a placeholder, and the user may have filled it in.
		default:
			entry.members[i].value = v
		}
	}
	return entry
}

// fill returns the value of a field; nothing if the entry does not need it.
func (c *Client) fill(p part, e Entry, before value) value {
	switch p {
	case program:
		return textValue(e.Command)
	case arguments:
		return textList(e.words())
	case commandLine:
		return textList(append([]string{e.Command}, e.words()...))
	case entryName:
		return textValue(e.Name)
	case yes:
		return value{kind: literal, text: "true"}
	case no:
		return value{kind: literal, text: "false"}
	case emptyObject:
		return value{kind: object}
	case emptyList:
		return value{kind: list}
	case allTools:
		return textList([]string{"*"})
	case timeout30:
		return value{kind: literal, text: "30"}
	case timeout300:
		return value{kind: literal, text: "300"}
	case address:
		return textValue(e.Remote.URL)
	case headers:
		return c.headers(e.Remote, before)
	case options:
		return before.get("requestOptions").with("headers", c.headers(e.Remote, before), true).asObject()
	case tokenName:
		return c.tokenName(e.Remote, before)
	}
	return textValue(string(p))
}
