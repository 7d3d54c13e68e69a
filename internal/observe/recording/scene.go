package recording

import (
	"bytes"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// scene is a request of the client with everything that the server sent for it.
type scene struct {
	method    string
	arguments any
	began     time.Duration
	id        []byte // as recorded
	token     []byte // of its progress, as recorded; nil if none was requested
	steps     []*step
	played    bool
}

// step is a message of the server: a notification, a question to the client, or the response.
type step struct {
	after   time.Duration // since the request
	message wire.Message
	reply   *wire.Message // the client's response to a question, if any
}

const (
	listenMethod     = "subscriptions/listen"
	subscriptionMeta = "io.modelcontextprotocol/subscriptionId"
)

// stage sorts the messages of a recording into scenes.
type stage struct {
	scenes    []*scene
	open      []*scene         // unanswered, oldest first
	questions map[string]*step // of the server, unanswered
	early     []entry          // of the server, before any request
}

func newStage(recording *Recording) *stage {
	s := &stage{questions: make(map[string]*step)}
	for _, e := range recording.entries {
		switch {
		case e.begins:
			s.open, s.questions = nil, make(map[string]*step)
		case e.from == Client:
			s.fromClient(e)
		default:
			s.fromServer(e)
		}
	}
	return s
}

func (s *stage) fromClient(e entry) {
	m := e.message
	switch {
	case m.IsRequest():
		added := &scene{
			method: string(m.Method), arguments: arguments(m.Params), began: e.after, id: m.ID.Bytes(),
		}
		if token := m.Params.Member("_meta").Member("progressToken"); !token.IsAbsent() {
			added.token = token.Bytes()
		}
		s.scenes = append(s.scenes, added)
		s.open = append(s.open, added)
		for _, before := range s.early {
			added.add(before)
		}
		s.early = nil
	case m.IsResponse():
		if question := s.questions[string(m.ID.Bytes())]; question != nil {
			question.reply = &m
			delete(s.questions, string(m.ID.Bytes()))
		}
	case string(m.Method) == "notifications/cancelled":
		s.closeScene(m.Params.Member("requestId").Bytes())
	}
}

func (s *stage) fromServer(e entry) {
	m := e.message
	if m.IsResponse() {
		if answered := s.closeScene(m.ID.Bytes()); answered != nil {
			answered.add(e)
		}
		return
	}
	to := s.owner(m)
	if to == nil {
		s.early = append(s.early, e)
		return
	}
	added := to.add(e)
	if m.IsRequest() {
		s.questions[string(m.ID.Bytes())] = added
	}
}

// closeScene removes a scene from the open ones.
func (s *stage) closeScene(id []byte) *scene {
	for i, candidate := range s.open {
		if bytes.Equal(candidate.id, id) {
			s.open = append(s.open[:i:i], s.open[i+1:]...)
			return candidate
		}
	}
	return nil
}

// owner returns the scene of a notification or question: the one that it names, else the last open one, else the last
// one.
func (s *stage) owner(m wire.Message) *scene {
	token := m.Params.Member("progressToken")
	subscription := m.Params.Member("_meta").Member(subscriptionMeta)
	var last *scene
	for _, candidate := range s.open {
		if !token.IsAbsent() && bytes.Equal(candidate.token, token.Bytes()) ||
			!subscription.IsAbsent() && bytes.Equal(candidate.id, subscription.Bytes()) {
			return candidate
		}
		if last == nil || candidate.method != listenMethod {
			last = candidate
		}
	}
	if last == nil && len(s.scenes) > 0 {
		last = s.scenes[len(s.scenes)-1]
	}
	return last
}

func (s *scene) add(e entry) *step {
	added := &step{after: max(0, e.after-s.began), message: e.message}
	s.steps = append(s.steps, added)
	return added
}

// hasQuestion reports whether the client has to answer a question.
func (s *scene) hasQuestion() bool {
	for _, step := range s.steps {
		if step.message.IsRequest() {
			return true
		}
	}
	return false
}
