package process

// Harden does nothing on Windows: there are no such core dumps, and children inherit only the handles that they are
// given.
func Harden() {}
