package protocol

import "github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"

// Method describes what the requests of one method are about. The zero value is that of an unknown method.
type Method struct {
	Name string
	// Capability and Extension are what a server declares that knows the method: one of them, or either. "": nothing.
	Capability, Extension string
	// Subject is the member of the params that names what a request is about. InHeader says that the Mcp-Name header
	// repeats it over HTTP, since revision 2026-07-28.
	Subject  string
	InHeader bool
	// Removed says that revision 2026-07-28 no longer has the method.
	Removed bool
	// Cacheable says that results carry their time to live, and MayAsk that a request may be answered with questions
	// and sent again with the answers; both since revision 2026-07-28.
	Cacheable, MayAsk bool
	// Updates says that a request begins or ends a subscription to its subject.
	Updates Updates
	// List is the list that the method asks for; nil if it asks for something else.
	List *List
}

// Updates is what a request does to a subscription.
type Updates int

// What a request does to a subscription.
const (
	LeavesUpdates Updates = iota
	BeginsUpdates
	EndsUpdates
)

// Members of params that name the subject of a request.
const (
	SubjectName = "name"
	SubjectURI  = "uri"
	SubjectTask = "taskId"
)

// List describes a list that a server may have besides its tools.
type List struct {
	Method                string // that asks for it
	Capability, Extension string // as in Method
	Array                 string // the member of the result that holds the entries
	Key                   string // the member of an entry that names it
	Changed               string // the notification that the list changed; "" if there is none
	Entry                 string // what people call an entry
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
	{Name: MethodSubscribe, Capability: "resources", Subject: SubjectURI, Removed: true, Updates: BeginsUpdates},
	{Name: MethodUnsubscribe, Capability: "resources", Subject: SubjectURI, Removed: true, Updates: EndsUpdates},
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
	{Name: MethodWatchTask, Capability: "tasks", Extension: ExtensionTasks, Subject: SubjectTask, Updates: BeginsUpdates},
	{Name: MethodUnwatchTask, Capability: "tasks", Extension: ExtensionTasks, Subject: SubjectTask, Updates: EndsUpdates},
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

// FindMethod returns the description of a method, which is not to be changed. It is never nil.
func FindMethod(name string) *Method {
	if m, ok := methodByName[name]; ok {
		return m
	}
	return &unknownMethod
}

// SubjectOf returns what a request with these params is about; "" if it does not say so.
func (m *Method) SubjectOf(params wire.Payload) string {
	if m.Subject == "" {
		return ""
	}
	name, _ := params.Member(m.Subject).Text()
	return name
}

// IsDeclared reports whether a server with these capabilities knows the method.
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

// Declares reports whether the value of a capability says that a peer has it. Some peers write null or false for one
// that they do not have.
func Declares(value wire.Payload) bool {
	switch value.Kind() {
	case "undefined", "null":
		return false
	case "boolean":
		return string(value.Bytes()) == "true"
	}
	return true
}

// IsKnownCapability reports whether a server's capability is one whose methods are known.
func IsKnownCapability(name string) bool {
	return name == "extensions" || name != "" && hasMethod(func(m *Method) bool { return m.Capability == name })
}

// IsKnownExtension reports whether an extension is known. Apps add members to known results, and no methods.
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
