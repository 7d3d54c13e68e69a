package process

// Harden does nothing on Windows: there are no core dumps of this kind, and children inherit only what they are given.
func Harden() {}
