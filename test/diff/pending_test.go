package diff

// pending are the steps that differ still, with the reason. A step that is equal on every route
// is to be taken out: the test says so.
var pending = byStep(map[string][]string{})

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
