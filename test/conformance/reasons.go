package main

import "strings"

// reasonFor says why a scenario need not do as well through the workbench as directly; "" if it
// must.
func reasonFor(one scenario) string {
	if one.client && strings.HasPrefix(one.name, "auth/") {
		return "The workbench does not sign in to servers with OAuth, and a client's sign-in is with the workbench, not with what is below."
	}
	return ""
}
