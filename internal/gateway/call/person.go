package call

import (
	"strconv"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/downstream"
)

// This file is about clients for which a person at the page answers elicitations; see ProfileOptions.AtPage.

// mayAskPerson reports whether a modern server may ask a modern client something that a person at the page answers: then the
// workbench sends the request again with the answer, as for a legacy client.
func (r *run) mayAskPerson() bool {
	return r.call.Client.Profile().AtPage() && r.lease.Session.Modern()
}

// asksPerson reports whether a result is a question that a person at the page has to answer.
func (r *run) asksPerson(result wire.Payload) bool {
	if kind, _ := result.Member(protocol.ResultType).Text(); kind != protocol.ResultInputRequired {
		return false
	}
	for _, request := range result.Member("inputRequests").Members() {
		if method, _ := request.Member("method").Text(); method == protocol.MethodElicitation {
			return true
		}
	}
	return false
}

// describe says what a question of the server is about, for those who are asked in place of the client.
func (r *run) describe(question *downstream.Question) {
	if !r.call.Client.Profile().AtPage() {
		return
	}
	question.About = toolbox.Ref{Toolbox: r.call.Server.Toolbox(), Server: r.call.Server.Name(), Name: r.call.Name}
	if len(r.token) > 0 {
		question.Report = r.reportWait
	}
}

// serverProgress is what the server told of the progress of a request. Guarded by the run's mu.
type serverProgress struct {
	last    float64
	isKnown bool
	waits   int // that the workbench told since the request began
}

func (p *serverProgress) record(params wire.Payload) {
	if number, err := strconv.ParseFloat(string(params.Member("progress").Bytes()), 64); err == nil {
		p.last, p.isKnown = number, true
	}
}

// waitStep is how much the progress increases with each notification that a request waits, beyond what its server told: it
// has to increase, and must be below what the server tells next.
const waitStep = 1e-6

// reportWait tells the client that the request waits for a person.
func (r *run) reportWait(text string) {
	if !r.mu.TryLock() { // held while the client does not read
		return
	}
	defer r.mu.Unlock()
	if r.over {
		return
	}
	params := WaitProgress(r.token, time.Now(), text)
	if r.progress.waits++; r.progress.isKnown {
		params = waitProgress(r.token, r.progress.last+float64(r.progress.waits)*waitStep, text)
	}
	r.call.Client.TryNotify(protocol.NotifyProgress, params)
}
