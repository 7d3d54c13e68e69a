package main

import "strings"

// reasonFor says why a scenario need not do as well through the workbench as directly; "" if it
// must.
func reasonFor(one scenario) string {
	if one.client && strings.HasPrefix(one.name, "auth/") {
		return "These are about how a client signs in to a server with OAuth. The client signs in to the workbench, and the workbench does not sign in to servers this way yet: it sends the headers of its configuration."
	}
	return ""
}
