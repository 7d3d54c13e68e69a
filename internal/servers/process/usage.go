package process

import "time"

// Usage is what the processes of a tree use.
type Usage struct {
	Memory int64         // resident, in bytes; memory that processes share counts for each of them
	CPU    time.Duration // of all of them since their start, and of those that have ended and that another one waited for
	Age    time.Duration // of the first process
}

// Share returns how much of one processor the tree used since an earlier look at it, or since its start if it has not been
// looked at: 1 is all of one.
func (u Usage) Share(earlier Usage) float64 {
	took := u.Age - earlier.Age
	if took <= 0 || u.CPU < earlier.CPU { // what a process used that was left behind ends with it
		return 0
	}
	return float64(u.CPU-earlier.CPU) / float64(took)
}
