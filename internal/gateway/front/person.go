package front

import (
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/call"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/downstream"
)

// This file has a person at the page answer questions to clients that cannot be asked; see ProfileOptions.AtPage.

// isForPerson reports whether the client is not asked itself.
func (s *session) isForPerson(question *downstream.Question) bool {
	return question.Method == protocol.MethodElicitation && s.Profile().AtPage()
}

// askPerson asks about a request; nil without one: then the question waits as long as the client is there.
func (s *session) askPerson(question *downstream.Question, of any) {
	if problem := call.Ambiguous(question.Method, question.Params); problem != "" {
		question.Refuse(protocol.CodeInvalidParams, problem)
		return
	}
	s.server.options.People.Ask(question, s.Profile(), of)
}

// askPerson asks for the request. The question waits as long as the request does.
func (r *request) askPerson(question *downstream.Question) {
	s := &r.suspension
	s.mu.Lock()
	s.atPage = true
	s.mu.Unlock()
	r.session.askPerson(question, r)
	s.mu.Lock()
	isOver := s.isOver
	s.mu.Unlock()
	if isOver { // perhaps before it waited
		r.session.server.options.People.Ended(r)
	}
}
