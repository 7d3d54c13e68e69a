package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
)

// This file is a server that sends exactly the bytes it is made to send.

const (
	roleFake     = "fake"
	fakeRevision = "E2E_REVISION" // the revision that it insists on; default: the client's
)

func fakeServer(revision string) server {
	s := playedServer("fake", roleFake)
	if revision != "" {
		s.env[fakeRevision] = revision
	}
	return s
}

// playFake answers one request after the other.
func playFake(in io.Reader, out io.Writer) error {
	reader := bufio.NewReaderSize(in, 1<<16)
	for {
		line, err := reader.ReadBytes('\n')
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		var request message
		if err := json.Unmarshal(line, &request); err != nil {
			return err
		}
		if request.ID == nil {
			continue
		}
		if _, err := io.WriteString(out, fakeAnswer(request)+"\n"); err != nil {
			return err
		}
	}
}

func fakeAnswer(request message) string {
	result := `{}`
	switch request.Method {
	case "initialize":
		var params struct {
			ProtocolVersion string `json:"protocolVersion"`
		}
		_ = json.Unmarshal(request.Params, &params) // our own client's
		if own := os.Getenv(fakeRevision); own != "" {
			params.ProtocolVersion = own
		}
		result = fmt.Sprintf(`{"protocolVersion":%q,"capabilities":{"tools":{}},"serverInfo":{"name":"fake","version":"1"}}`, params.ProtocolVersion)
	case "tools/list":
		result = `{"tools":[` + strings.Join(fakeDefinitions(), ",") + `]}`
	case "tools/call":
		var params struct{ Name string }
		_ = json.Unmarshal(request.Params, &params)
		for _, sample := range fidelitySamples() {
			if sample.name == params.Name {
				// As unusual around the result as in it.
				return fmt.Sprintf(` { "result" :%s , "extra":[{"id":9}],"id" : %s,"jsonrpc":"2.0" } `, sample.json, request.ID)
			}
		}
	default:
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no such method"}}`, request.ID)
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, request.ID, result)
}

// fakeDefinitions has a plain tool for each sample, and a few that are not plain.
func fakeDefinitions() []string {
	definitions := append([]string(nil), unusualDefinitions...)
	for _, sample := range fidelitySamples() {
		definitions = append(definitions, fmt.Sprintf(`{"name":%q,"inputSchema":{"type":"object"}}`, sample.name))
	}
	return definitions
}
