package main

import (
	"slices"
	"strings"
)

// reasonFor says why a scenario need not do as well through the workbench as directly; "" if it
// must.
func reasonFor(subject string, one scenario) string {
	if one.client && strings.HasPrefix(one.name, "auth/") {
		return "These are about how a client signs in to a server with OAuth. The client signs in to the workbench, and the workbench does not sign in to servers this way yet: it sends the headers of its configuration."
	}
	for _, known := range borderReasons {
		if known.subject == subject && slices.Contains(known.scenarios, one.name) {
			return known.reason
		}
	}
	return ""
}

// borderReasons are what a client of one era cannot have of this server in the other.
var borderReasons = []struct {
	subject   string
	scenarios []string
	reason    string
}{
	{
		modernToLegacy,
		[]string{"input-required-result-basic-elicitation"},
		"The suite wants the question under a name of the server's. In the older era questions have no names, so that the workbench gives them some.",
	},
	{
		modernToLegacy,
		[]string{"input-required-result-multi-round"},
		"In the older era this server's tool answers its second round with a result that only the newer one knows.",
	},
	{
		legacyToModern,
		[]string{"tools-call-sampling", "tools-call-elicitation", "elicitation-sep1034-defaults", "elicitation-sep1330-enums"},
		"These tools of the server ask in mid-call by a request of its own, which it cannot do in the newer era. It says so to any client.",
	},
}

// meant are single checks that may do worse through the workbench, with the reason.
var meant = map[string]string{
	"sep-2575-server-sends-tools-list-changed-on-subscription": "The suite's tool says that the tools changed, and the second time they did not. The workbench reads them, and tells clients of changes only.",
	"sep-2322-ignore-unexpected-params":                        "From a client of the newer era to a server of the older one: the suite answers a question under a name of the server's, which questions do not have there.",
}
