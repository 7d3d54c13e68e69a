package metatool

import "github.com/mcp-workbench/mcp-workbench/internal/setup/config"

// Extend adds what the configuration says of finding tools and of large results. It is to
// be called before the first client comes. Direct mode has none of it: there a client sees
// just the servers' own tools.
func (s *Surface) Extend(discovery config.Discovery) {
	if s.mode == config.Direct {
		return
	}
	s.autoOpen, s.openBrief = discovery.AutoOpen, discovery.OpenBrief
	s.search, s.maxResult = discovery.Search, discovery.MaxResultBytes
	s.pinned = newPinned(discovery.Pinned)
}

// callExtra answers the call of a tool that Extend added; ok is false if it is none.
func (s *Surface) callExtra(request *Request) (ok bool) {
	switch {
	case request.Name == findName && s.search:
		s.findTools(*request)
	case request.Name == readName && s.keepFor(request.Session) != nil:
		s.readResult(*request)
	default:
		return s.callPinned(request)
	}
	return true
}

// appendExtras appends the tools that Extend added to a list.
func (s *Surface) appendExtras(list []byte, session Session) []byte {
	if s.search {
		list = append(append(list, ','), findDefinition...)
	}
	if s.keepFor(session) != nil {
		list = append(append(list, ','), readDefinition...)
	}
	return s.appendPinned(list, session)
}

// MetaTools returns the definitions of our own tools.
func (s *Surface) MetaTools() [][]byte {
	if s.mode == config.Direct {
		return nil
	}
	tools := [][]byte{s.openDefinition(), s.useDefinition()}
	if s.search {
		tools = append(tools, []byte(findDefinition))
	}
	if s.maxResult > 0 {
		tools = append(tools, []byte(readDefinition))
	}
	return tools
}

// Some clients show a model the definitions of tools only when it searches for them.
// These members of _meta ask them to have a tool at hand all the time, and say by which
// words it is found. With our few tools hidden, everything behind them would be.
const (
	alwaysLoad = `"anthropic/alwaysLoad":true`
	searchHint = "anthropic/searchHint"
)
