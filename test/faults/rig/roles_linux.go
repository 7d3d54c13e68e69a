package rig

import "maps"

// roles are all servers that can be played, by name.
func roles() map[string]role {
	all := map[string]role{"good": {}}
	for _, some := range []map[string]role{startRoles, oddRoles, answerRoles, listRoles, callRoles, lifeRoles, tortureRoles} {
		maps.Copy(all, some)
	}
	return all
}
