package metatool

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/fleet"
)

const findName = "find_tools"

// Limits of one search.
const (
	findUsual  = 5   // tools, if the client names no limit
	findMost   = 50  // tools
	maxUnseen  = 10  // servers that are named because nothing is known of them
	maxPlaces  = 20  // toolboxes that are named where nothing was found
	oneLineMax = 160 // characters of a description
)

// offersFind reports whether the configuration offers find_tools.
func (s *Surface) offersFind(Session) bool { return s.discovery.Search }

func (s *Surface) findDefinition() []byte {
	return []byte(`{"name":"find_tools","title":"Find tools",` +
		`"description":"Search the tools of all toolboxes by what they do, open or not. Answers with the best few: toolbox, server and name for use_tool, ` +
		`a line of description and the parameters as a signature. What was found can be used at once with use_tool, without open_toolbox.",` +
		`"inputSchema":{"type":"object","properties":{` +
		`"query":{"type":"string","minLength":1,"description":"What the tool should do, in a few words, perhaps with the kind of server before a semicolon: maps; find a bicycle route"},` +
		`"toolbox":{"type":"string","minLength":1,"description":"Search this toolbox only"},` +
		`"limit":{"type":"integer","minimum":1,"maximum":50,"default":5,"description":"How many tools to answer with"}},` +
		`"required":["query"],"additionalProperties":false},` +
		`"annotations":{"readOnlyHint":true,"destructiveHint":false,"idempotentHint":true,"openWorldHint":false},` +
		`"_meta":{` + alwaysLoad + `,"` + searchHint + `":"find a tool for any task in all toolboxes"}}`)
}

// findQuery holds the arguments of find_tools.
type findQuery struct {
	query, toolbox string
	limit          int
}

// parseFind reads the arguments; problem describes all mistakes in them.
func parseFind(arguments wire.Payload) (q findQuery, problem string) {
	if kind := arguments.Kind(); kind != "object" && kind != "null" && kind != "undefined" {
		return q, "Expected object, received " + kind
	}
	q.limit = findUsual
	var problems []string
	asked := false
	for key, value := range arguments.Members() {
		switch string(key) {
		case "query":
			asked = true
			q.query, problems = textArgument("query", value, problems)
		case "toolbox":
			q.toolbox, problems = textArgument("toolbox", value, problems)
		case "limit":
			q.limit, problems = numberArgument("limit", value, 1, findMost, problems)
		default:
			problems = append(problems, fmt.Sprintf("Unrecognized key: '%s'", key))
		}
	}
	if !asked {
		problems = append([]string{"query: Required"}, problems...)
	}
	return q, strings.Join(problems, "; ")
}

// textArgument reads a string that must not be blank, and appends a problem if it is.
func textArgument(key string, value wire.Payload, problems []string) (string, []string) {
	text, ok := value.Text()
	switch {
	case !ok:
		problems = append(problems, key+": Expected string, received "+value.Kind())
	case strings.TrimSpace(text) == "":
		problems = append(problems, key+" cannot be empty")
	}
	return text, problems
}

// numberArgument reads an integer within bounds. Some models send it as a string.
func numberArgument(key string, value wire.Payload, least, most int, problems []string) (int, []string) {
	raw := string(value.Bytes())
	if text, ok := value.Text(); ok {
		raw = text
	} else if value.Kind() != "number" {
		return 0, append(problems, key+": Expected number, received "+value.Kind())
	}
	n, err := strconv.Atoi(raw)
	if err != nil || n < least || n > most {
		problems = append(problems, fmt.Sprintf("%s: Expected a whole number from %d to %d", key, least, most))
	}
	return n, problems
}

func (s *Surface) findTools(request Request) {
	q, problem := parseFind(request.Arguments)
	if problem != "" {
		request.fail("Invalid parameters: " + problem)
		return
	}
	if q.toolbox != "" {
		box, ok := s.visible.Toolbox(q.toolbox)
		if !ok {
			s.failUnknownToolbox(&request.Origin, fmt.Sprintf("Toolbox '%s' not found in configuration", q.toolbox), s.availableToolboxes())
			return
		}
		if box.IsDisabled() {
			request.fail(disabledToolbox(box), s.availableToolboxes())
			return
		}
	}
	go func() { // the first query after a change has to read all definitions
		request.Answerer.Answer(Answer{Text: textResult(false, s.find(q, request.Session))})
	}()
}

// find searches, opens the toolboxes of the tools that it found to the client, and formats the answer.
func (s *Surface) find(q findQuery, session Session) string {
	found := s.finder.search(s.visible.Toolboxes(), session.Profile(), q)
	answer := []byte(`{"found":`)
	answer = wire.AppendString(answer, fmt.Sprintf("%d of %d", len(found.hits), found.searched))
	answer = append(answer, `,"tools":[`...)
	for i, hit := range found.hits {
		if i > 0 {
			answer = append(answer, ',')
		}
		s.openFound(hit.box, session)
		members := wire.AppendMember([]byte("{"), "toolbox", hit.box.Name)
		members = wire.AppendMember(members, "server", hit.server.Name())
		members = wire.AppendMember(members, "name", hit.tool.Name)
		members = appendBrief(members, hit.tool)
		if s.reads.includes(toolbox.Ref{Toolbox: hit.box.Name, Server: hit.server.Name(), Name: hit.tool.Name}, hit.tool) {
			members = wire.AppendMember(members, "use", readToolName)
		}
		if hit.tool.Changed {
			members = append(members, `,"changed":true`...)
		}
		if needed := hit.server.NeedsLogin(session.Profile()); needed != nil {
			members = wire.AppendMember(members, "login_needed", needed.Remedy())
		}
		answer = append(append(answer, members...), '}')
	}
	answer = append(answer, ']')
	if found.more {
		answer = append(answer, `,"more":true`...)
	}
	if hint := s.findHint(q, found); hint != "" {
		answer = wire.AppendMember(answer, "hint", hint)
	}
	answer = appendTexts(answer, "not_searched", notSearched(found, session.Profile()))
	return string(append(answer, '}'))
}

// openFound opens the toolbox of a tool that was found. Its servers start at the first call, but cached lists may
// become visible to the client.
func (s *Surface) openFound(box *fleet.Toolbox, session Session) {
	if first := session.MarkOpen(box.Name); !first {
		return
	}
	for _, method := range s.changedBy(box, session.Profile()) {
		_ = session.Notify(method, nil) // fails only if the session has ended
	}
}

// findHint suggests the next step if nothing was found, or nothing that fits well.
func (s *Surface) findHint(q findQuery, found findResult) string {
	switch {
	case found.doubtful:
		return "These may not match: use other words, or look into a toolbox with open_toolbox"
	case len(found.hits) > 0:
		return ""
	case q.toolbox != "":
		return fmt.Sprintf("No tool of toolbox '%s' fits. Search without a toolbox, use other words, or list its tools with open_toolbox", q.toolbox)
	}
	boxes := s.visible.Toolboxes()
	if len(boxes) == 0 {
		return "No tool fits. " + s.availableToolboxes()
	}
	hint := "No tool fits. Use other words, or look into a toolbox with open_toolbox:"
	for i, box := range boxes {
		if i == maxPlaces {
			return hint + fmt.Sprintf("\n- and %d more", len(boxes)-i)
		}
		hint += "\n- " + box.Name
		if box.Description != "" {
			hint += ": " + OneLine(box.Description)
		}
	}
	return hint
}

// notSearched names the servers without known tools: those that wait for a login, and the others by toolbox.
func notSearched(found findResult, profile *fleet.ClientProfile) (texts []string) {
	found.unseen = slices.DeleteFunc(found.unseen, func(server *fleet.Server) bool {
		needed := server.NeedsLogin(profile)
		if needed != nil {
			texts = append(texts, fmt.Sprintf("Server '%s' (toolbox '%s'): %v", server.Name(), server.Toolbox(), needed))
		}
		return needed != nil
	})
	if more := len(texts) - maxUnseen; more > 0 {
		texts = append(texts[:maxUnseen], fmt.Sprintf("And %d more servers that need a login", more))
	}
	for i := 0; i < len(found.unseen); {
		if i >= maxUnseen {
			return append(texts, fmt.Sprintf("And %d more servers that were never connected", len(found.unseen)-i))
		}
		box := found.unseen[i].Toolbox()
		var names []string
		for ; i < len(found.unseen) && found.unseen[i].Toolbox() == box; i++ {
			names = append(names, found.unseen[i].Name())
		}
		if more := len(names) - maxUnseen; more > 0 {
			names = append(names[:maxUnseen], fmt.Sprintf("and %d more", more))
		}
		texts = append(texts, fmt.Sprintf("Toolbox '%s' has servers that were never connected: %s. open_toolbox connects them", box, strings.Join(names, ", ")))
	}
	if found.left > 0 {
		texts = append(texts, fmt.Sprintf("%d tools are too many to search; name a toolbox", found.left))
	}
	return texts
}
