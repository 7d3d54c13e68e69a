package hops

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"time"
)

const (
	probeTime = 5 * time.Second // for a local address to answer; then it counts as not a workbench
	maxAnswer = 64 << 10        // bytes of the response that are read
)

// Probe requests a server's address over HTTP with the mark, to find out whether a connection would lead the workbench
// back to itself; the error says so. An address that cannot be reached, or is not a workbench, causes no error.
func Probe(ctx context.Context, address string, header http.Header, mark string) error {
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil
	}
	maps.Copy(request.Header, header)
	request.Header.Set(Header, mark)
	request.Header.Set("Accept", "application/json") // do not request a stream, which other servers open for a GET
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	defer client.CloseIdleConnections()
	response, err := client.Do(request)
	if err != nil {
		return nil
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusLoopDetected {
		return nil
	}
	var answer struct {
		Error struct{ Message string }
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err != nil || json.Unmarshal(body, &answer) != nil || answer.Error.Message == "" {
		return nil
	}
	return errors.New(answer.Error.Message)
}
