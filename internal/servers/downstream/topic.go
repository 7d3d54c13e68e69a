package downstream

import (
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// Topic is a resource, or a task of the modern era, to whose updates a client can subscribe.
type Topic struct {
	IsTask bool
	ID     string // the URI of a resource
}

// TopicOf returns the topic of a request that begins or ends a subscription; its ID is "" if the params do not name it.
// ok is false for any other request.
func TopicOf(method string, params wire.Payload) (topic Topic, begins, ok bool) {
	about := protocol.FindMethod(method)
	if about.Subscription == protocol.NoSubscription {
		return Topic{}, false, false
	}
	return Topic{IsTask: about.Subject == protocol.SubjectTask, ID: about.SubjectOf(params)}, about.Subscription == protocol.Subscribes, true
}

// Subscribe returns the request that begins the subscription.
func (t Topic) Subscribe() (method string, params []byte) {
	if t.IsTask {
		return protocol.MethodWatchTask, t.params()
	}
	return protocol.MethodSubscribe, t.params()
}

// Unsubscribe returns the request that ends the subscription.
func (t Topic) Unsubscribe() (method string, params []byte) {
	if t.IsTask {
		return protocol.MethodUnwatchTask, t.params()
	}
	return protocol.MethodUnsubscribe, t.params()
}

func (t Topic) params() []byte { return append(wire.AppendMember([]byte("{"), t.key(), t.ID), '}') }

// key returns the member of params that names the topic.
func (t Topic) key() string {
	if t.IsTask {
		return protocol.SubjectTask
	}
	return protocol.SubjectURI
}

// topicFilters are the members of a subscription's filter.
var topicFilters = []struct {
	key    string
	isTask bool
}{{"resourceSubscriptions", false}, {"taskIds", true}}

// FilterOf returns the filter of a subscription to topics, as raw members without braces.
func FilterOf(topics []Topic) []byte {
	var members []byte
	for _, filter := range topicFilters {
		begun := false
		for _, topic := range topics {
			if topic.IsTask != filter.isTask {
				continue
			}
			if len(members) > 0 {
				members = append(members, ',')
			}
			if !begun {
				members = append(members, `"`+filter.key+`":[`...)
			}
			members, begun = wire.AppendString(members, topic.ID), true
		}
		if begun {
			members = append(members, ']')
		}
	}
	return members
}

// TopicsIn parses the filter of a subscription; problem says what is wrong with it.
func TopicsIn(notifications wire.Payload) (topics []Topic, problem string) {
	for _, filter := range topicFilters {
		for id := range notifications.Member(filter.key).Elements() {
			text, ok := id.Text()
			if !ok {
				problem = "'" + filter.key + "' must be an array of strings"
				continue
			}
			topics = append(topics, Topic{filter.isTask, text})
		}
	}
	return topics, problem
}

// TaskIn returns the id of the task that a message of the server is about; ok is false if there is none.
func TaskIn(method string, params wire.Payload) (id string, ok bool) {
	switch method {
	case protocol.NotifyTasks, protocol.NotifyTaskStatus:
		return params.Member("taskId").Text()
	}
	return params.Member("_meta").Member(protocol.MetaRelatedTask).Member("taskId").Text()
}
