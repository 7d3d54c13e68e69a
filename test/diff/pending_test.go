package diff

// pending are the steps that differ still, with the reason. A step that is equal on every route
// is to be taken out: the test says so.
var pending = byStep(map[string][]string{
	"params {} are added where there were none":                                                {"roots", "two questions at once", "a request without params"},
	"the cancelling of a question is written anew, without its _meta":                          {"a question that is taken back"},
	"requests of the server and notifications of the client that nobody knows do not pass yet": {"a request that nobody knows", "what the server heard"},
})

// pendingOfNpm is the same for the server of npm.
var pendingOfNpm = byStep(map[string][]string{})

// byStep turns reasons with their steps round.
func byStep(reasons map[string][]string) map[string]string {
	steps := make(map[string]string)
	for reason, names := range reasons {
		for _, name := range names {
			steps[name] = reason
		}
	}
	return steps
}
