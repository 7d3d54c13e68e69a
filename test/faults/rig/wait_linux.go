package rig

import (
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/mcp-workbench/mcp-workbench/test/mcptest"
)

// slackVariable is how many times longer than a limit says is waited: 1 to hold the
// workbench to its times, on a machine that does nothing else.
const slackVariable = "FAULTS_SLACK"

// slack tells a busy machine, where all is late, from a fault, where nothing comes.
var slack = sync.OnceValue(func() time.Duration {
	if n, err := strconv.Atoi(os.Getenv(slackVariable)); err == nil && n > 0 {
		return time.Duration(n)
	}
	return 4
})

// Eventually tries again and again until there is no error, or the time is over.
func Eventually(limit time.Duration, try func() error) error {
	return mcptest.Eventually(limit*slack(), try)
}
