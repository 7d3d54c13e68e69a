package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	nethttp "net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"sync"
)

// eraRole makes this program a server of one era: it stands before one of both, and knows
// nothing of the other. "era legacy stdio COMMAND…" speaks through its stdin and stdout,
// "era legacy ADDRESS URL" listens.
const eraRole = "era"

// Names of the two eras.
const (
	legacyEra = "legacy"
	modernEra = "modern"
)

// holder holds a server to one era.
type holder struct{ era string }

func holdEra(arguments []string) int {
	err := errors.New("usage: conformance era legacy|modern stdio COMMAND… | ADDRESS URL")
	if len(arguments) >= 3 && (arguments[0] == legacyEra || arguments[0] == modernEra) {
		h := holder{arguments[0]}
		if arguments[1] == "stdio" {
			err = h.stdio(arguments[2:])
		} else {
			err = h.listen(arguments[1], arguments[2])
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// refusal is the answer to a message of the other era; nil for any other.
func (h holder) refusal(message []byte) []byte {
	var request struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
		Params struct {
			Meta struct {
				Version string `json:"io.modelcontextprotocol/protocolVersion"`
			} `json:"_meta"`
		} `json:"params"`
	}
	if json.Unmarshal(message, &request) != nil || len(request.ID) == 0 || request.Method == "" {
		return nil
	}
	isModern := request.Params.Meta.Version != ""
	if isModern == (h.era == modernEra) {
		return nil
	}
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"Method not found: this server speaks the other era"}}`, request.ID)
}

var supported = regexp.MustCompile(`"supportedVersions":\[[^\]]*\]`)

// only takes the other era out of what the server says it supports.
func (h holder) only(message []byte) []byte {
	if h.era != modernEra {
		return message
	}
	return supported.ReplaceAll(message, []byte(`"supportedVersions":["`+modernRevision+`"]`))
}

// stdio stands before a process.
func (h holder) stdio(command []string) error {
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	var writing sync.Mutex
	say := func(line []byte) {
		writing.Lock()
		defer writing.Unlock()
		_, _ = os.Stdout.Write(line) // that nobody reads is noticed by reading
	}
	go func() {
		defer stdin.Close()
		_ = eachLine(os.Stdin, func(line []byte) error {
			if refusal := h.refusal(line); refusal != nil {
				say(append(refusal, '\n'))
				return nil
			}
			_, err := stdin.Write(line)
			return err
		})
	}()
	if err := eachLine(stdout, func(line []byte) error { say(h.only(line)); return nil }); err != nil {
		return err
	}
	return cmd.Wait()
}

func eachLine(r io.Reader, do func(line []byte) error) error {
	reader := bufio.NewReader(r)
	for {
		line, err := reader.ReadBytes('\n')
		if len(line) > 0 {
			if err := do(line); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// listen stands before a server over HTTP.
func (h holder) listen(address, target string) error {
	to, err := url.Parse(target)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(to)
			r.Out.Host = to.Host
		},
		FlushInterval: -1,
		ModifyResponse: func(response *nethttp.Response) error {
			if h.era != modernEra || response.Request.Header.Get("Mcp-Method") != "server/discover" {
				return nil
			}
			body, err := io.ReadAll(response.Body)
			if err != nil {
				return err
			}
			body = h.only(body)
			response.Body = io.NopCloser(bytes.NewReader(body))
			response.ContentLength = int64(len(body))
			response.Header.Del("Content-Length")
			return nil
		},
	}
	return nethttp.Serve(listener, nethttp.HandlerFunc(func(w nethttp.ResponseWriter, r *nethttp.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			nethttp.Error(w, err.Error(), nethttp.StatusBadRequest)
			return
		}
		if refusal := h.refusal(body); refusal != nil {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(nethttp.StatusNotFound)
			_, _ = w.Write(refusal) // a client that is gone needs no answer
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		proxy.ServeHTTP(w, r)
	}))
}
