package process

import (
	"os"
	"path/filepath"
)

// runName names the run in paths.
func (pl *platform) runName() string { return pl.run.String() }

// removeBoxes removes the temporary files of a run without remaining processes. Those of children that have stopped are gone.
func removeBoxes(stateDir, run string) {
	folder := boxTemp(stateDir, run)
	if _, err := os.Lstat(folder); err == nil {
		removeTree(folder)
	}
	_ = os.Remove(filepath.Dir(folder)) // unless another run has files there
}
