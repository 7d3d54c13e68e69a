package process

// maxTree is how many processes of one tree are listed; further ones are left out.
const maxTree = 200

// TreeProcess is one process of a tree.
type TreeProcess struct {
	PID, Parent int
	Name        string // of its program, as the system shortens it
	Memory      int64  // resident, in bytes; 0 if unknown
}
