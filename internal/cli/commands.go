package cli

import (
	"strings"

	"github.com/spf13/cobra"
)

// addCommands adds all commands, in the groups and the order in which the help shows them.
func addCommands(root *cobra.Command, g *globals) {
	addGroup(root, "Start here:", newInit(g), newDoctor(g), newConnect(g), newDisconnect(), newTry(g))
	addGroup(root, "Configuration:", newList(g), newAdd(g), newRemove(g), newEnable(g), newDisable(g), newValidate(g), newTrust(g), newLock(g), newSchema())
	addGroup(root, "Use tools:", newTools(g), newShow(g), newFind(g), newCall(g), newTokens(g))
	addGroup(root, "Running workbenches:", newPS(), newTop(), newLogs(), newRestart(), newStop())
	addGroup(root, "Serving:", newServe(g), newToken(g), newBridge(g), newRecord(g), newReplay(), newBuiltin())
	const other = "Other:"
	addGroup(root, other, newExplain())
	root.SetHelpCommandGroupID(other)
	root.SetCompletionCommandGroupID(other)
	addCompletion(root)
	root.AddCommand(newDaemon(g)) // hidden
	root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), ".FlagUsages", ".FlagUsagesWrapped 80"))
}

func addGroup(root *cobra.Command, title string, commands ...*cobra.Command) {
	root.AddGroup(&cobra.Group{ID: title, Title: title})
	for _, command := range commands {
		command.GroupID = title
	}
	root.AddCommand(commands...)
}
