package protocol

import (
	"strings"
	"unicode"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// Method describes the requests of one method. The zero value describes an unknown method.
type Method struct {
	Name string
	// Capability and Extension are what a server that supports the method declares: the one that is set, or either of
	// two.
	Capability, Extension string
	// Subject is the member of the params that names the subject of a request. InHeader: over HTTP, the Mcp-Name header
	// repeats it, since revision 2026-07-28.
	Subject  string
	InHeader bool
	// Removed: revision 2026-07-28 no longer has the method.
	Removed bool
	// Cacheable: results carry their time to live. MayAsk: the server may answer a request with questions, and the
	// client repeats it with the answers. Both since revision 2026-07-28.
	Cacheable, MayAsk bool
	// Subscription is the effect of a request on the subscription to its subject.
	Subscription Subscription
	// List is the list that the method requests, or nil.
	List *List
}

// Subscription is the effect of a request on a subscription.
type Subscription int

// Effects of a request on a subscription.
const (
	NoSubscription Subscription = iota
	Subscribes
	Unsubscribes
)

// Members of params that name the subject of a request.
const (
	SubjectName = "name"
	SubjectURI  = "uri"
	SubjectTask = "taskId"
)

// List describes a list of a server other than its tools.
type List struct {
	Method                string // the method that requests it
	Capability, Extension string // as in Method
	Array                 string // the member of the result with the entries
	Key                   string // the member that identifies an entry
	Changed               string // the notification that the list changed; may be ""
	Entry                 string // the noun for an entry, for people
}

// The lists. Skills share the notification of resources, since their files are resources.
var (
	ResourceList = &List{Method: MethodResourcesList, Capability: "resources", Array: "resources", Key: SubjectURI, Changed: NotifyResourcesList, Entry: "resource"}
	TemplateList = &List{Method: MethodTemplatesList, Capability: "resources", Array: "resourceTemplates", Key: "uriTemplate", Changed: NotifyResourcesList, Entry: "resource template"}
	PromptList   = &List{Method: MethodPromptsList, Capability: "prompts", Array: "prompts", Key: SubjectName, Changed: NotifyPromptsList, Entry: "prompt"}
	SkillList    = &List{Method: MethodSkillsList, Extension: ExtensionSkills, Array: "skills", Key: SubjectURI, Changed: NotifyResourcesList, Entry: "skill"}
	TaskList     = &List{Method: MethodTasksList, Capability: "tasks", Extension: ExtensionTasks, Array: "tasks", Key: SubjectTask, Entry: "task"}
)

var methods = []Method{
	{Name: MethodInitialize, Removed: true},
	{Name: MethodPing, Removed: true},
	{Name: MethodDiscover, Cacheable: true},
	{Name: MethodListen},
	{Name: MethodToolsList, Capability: "tools", Cacheable: true},
	{Name: MethodToolsCall, Capability: "tools", Subject: SubjectName, InHeader: true, MayAsk: true},
	{Name: MethodResourcesList, Cacheable: true, List: ResourceList},
	{Name: MethodTemplatesList, Cacheable: true, List: TemplateList},
	{Name: MethodResourcesRead, Capability: "resources", Subject: SubjectURI, InHeader: true, Cacheable: true, MayAsk: true},
	{Name: MethodSubscribe, Capability: "resources", Subject: SubjectURI, Removed: true, Subscription: Subscribes},
	{Name: MethodUnsubscribe, Capability: "resources", Subject: SubjectURI, Removed: true, Subscription: Unsubscribes},
	{Name: MethodPromptsList, Cacheable: true, List: PromptList},
	{Name: MethodPromptsGet, Capability: "prompts", Subject: SubjectName, InHeader: true, MayAsk: true},
	{Name: MethodComplete, Capability: "completions"},
	{Name: MethodSetLevel, Capability: "logging", Removed: true},
	{Name: MethodSkillsList, Cacheable: true, List: SkillList},
	{Name: MethodSkillsGet, Extension: ExtensionSkills, Subject: SubjectURI, Cacheable: true},
	{Name: MethodDirectoryRead, Extension: ExtensionSkills, Subject: SubjectURI},
	{Name: MethodTasksList, Removed: true, List: TaskList},
	{Name: MethodTasksGet, Capability: "tasks", Extension: ExtensionTasks, Subject: SubjectTask, InHeader: true},
	{Name: MethodTasksResult, Capability: "tasks", Extension: ExtensionTasks, Subject: SubjectTask, InHeader: true, Removed: true},
	{Name: MethodTasksUpdate, Capability: "tasks", Extension: ExtensionTasks, Subject: SubjectTask, InHeader: true},
	{Name: MethodTasksCancel, Capability: "tasks", Extension: ExtensionTasks, Subject: SubjectTask, InHeader: true},
	{Name: MethodWatchTask, Capability: "tasks", Extension: ExtensionTasks, Subject: SubjectTask, Subscription: Subscribes},
	{Name: MethodUnwatchTask, Capability: "tasks", Extension: ExtensionTasks, Subject: SubjectTask, Subscription: Unsubscribes},
}

var methodByName = func() map[string]*Method {
	byName := make(map[string]*Method, len(methods))
	for i := range methods {
		m := &methods[i]
		if m.List != nil {
			m.Capability, m.Extension = m.List.Capability, m.List.Extension
		}
		byName[m.Name] = m
	}
	return byName
}()

var unknownMethod Method

// FindMethod returns the description of a method; never nil. The caller must not change it.
func FindMethod(name string) *Method {
	if m, ok := methodByName[name]; ok {
		return m
	}
	return &unknownMethod
}

var methodByLetters = func() map[string]string {
	byLetters := make(map[string]string, len(methods))
	for i := range methods {
		byLetters[lettersOf(methods[i].Name)] = methods[i].Name
	}
	return byLetters
}()

// SimilarMethod returns the known method that has the same letters as a name; "" if none does. A server that ignores
// case, spaces or slashes would take the name for that method, and the workbench would not have checked the request.
func SimilarMethod(name string) string { return methodByLetters[lettersOf(name)] }

// lettersOf returns the letters a to z of a name, in lower case.
func lettersOf(name string) string {
	return strings.Map(func(r rune) rune {
		for folded := unicode.SimpleFold(r); r > unicode.MaxASCII && folded != r; folded = unicode.SimpleFold(folded) {
			if folded <= unicode.MaxASCII {
				r = folded
			}
		}
		if r = unicode.ToLower(r); r < 'a' || r > 'z' {
			return -1
		}
		return r
	}, name)
}

// SubjectOf returns the subject of a request with these params, or "".
func (m *Method) SubjectOf(params wire.Payload) string {
	if m.Subject == "" {
		return ""
	}
	name, _ := params.Member(m.Subject).Text()
	return name
}

// IsDeclared reports whether a server with these capabilities supports the method.
func (m *Method) IsDeclared(capabilities wire.Payload) bool {
	return isDeclared(capabilities, m.Capability, m.Extension)
}

// IsDeclared reports whether a server with these capabilities has the list.
func (l *List) IsDeclared(capabilities wire.Payload) bool {
	return isDeclared(capabilities, l.Capability, l.Extension)
}

func isDeclared(capabilities wire.Payload, capability, extension string) bool {
	if extension != "" && Declares(capabilities.Member("extensions").Member(extension)) {
		return true
	}
	return capability != "" && Declares(capabilities.Member(capability))
}

// Declares reports whether a capability's value declares it. Some peers write null or false for a capability that they
// lack.
func Declares(value wire.Payload) bool {
	switch value.Kind() {
	case "undefined", "null":
		return false
	case "boolean":
		return string(value.Bytes()) == "true"
	}
	return true
}

// IsKnownCapability reports whether the workbench knows the methods of a server capability.
func IsKnownCapability(name string) bool {
	return name == "extensions" || name != "" && hasMethod(func(m *Method) bool { return m.Capability == name })
}

// IsKnownExtension reports whether an extension is known. Apps add members to known results, but no methods.
func IsKnownExtension(name string) bool {
	return name == ExtensionApps || name != "" && hasMethod(func(m *Method) bool { return m.Extension == name })
}

func hasMethod(fits func(*Method) bool) bool {
	for i := range methods {
		if fits(&methods[i]) {
			return true
		}
	}
	return false
}
