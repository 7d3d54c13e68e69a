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
	askTime   = 5 * time.Second // for an address of this machine to answer
	maxAnswer = 64 << 10        // size of its answer that is read
)

// Ask asks a server over HTTP whether a connection with that mark would lead a workbench back to
// itself. Then the error says so. One that cannot be reached, or is no workbench, has nothing
// to say to that.
func Ask(ctx context.Context, address string, header http.Header, mark string) error {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil
	}
	maps.Copy(request.Header, header)
	request.Header.Set(Header, mark)
	request.Header.Set("Accept", "application/json") // no stream is wanted, which others begin for a GET
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
