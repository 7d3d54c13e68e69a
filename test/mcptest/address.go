package mcptest

import (
	"fmt"
	"math/rand/v2"
	"net"
)

// Ports that systems do not give out for connections and for listeners that ask for any port: one of them stays free between
// being found and being used.
const (
	firstPort = 20_000
	lastPort  = 32_000
)

// FreeAddress returns a loopback address with a port that nobody listens on, for what has to know its address before it
// listens, or has to come back to it.
func FreeAddress() (string, error) {
	var err error
	for range 100 {
		address := fmt.Sprintf("127.0.0.1:%d", firstPort+rand.IntN(lastPort-firstPort))
		var listener net.Listener
		if listener, err = net.Listen("tcp", address); err == nil {
			return address, listener.Close()
		}
	}
	return "", fmt.Errorf("no port is free: %w", err)
}
