//go:build unix

package script

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/mcp-workbench/mcp-workbench/test/mcptest"
)

var (
	webAddress = regexp.MustCompile(`(https?://[0-9.:]+)/`)
	webCode    = regexp.MustCompile(`#once=(\S+)`)
	webToken   = regexp.MustCompile(`mcpw_[\w-]+|"token":"[\w-]+"`)
)

// web sends a request as the page in a browser does: FILE METHOD PATH [TOKEN-FILE [BODY]]. The file holds the address, once
// the program has written it. It prints the status, the headers that -head names, and the answer, or with -lines N its first
// lines. Each -with is a header that the request has. With -until STATUS it asks again until that is the status, or with "failed" until the
// connection fails. -cert NAME shows a client certificate, as 'certificate' made it. The name in the server's certificate is printed, not
// verified. Negated, the request has to end without a result: by an error in the answer, or before its end.
func web(ts *testscript.TestScript, neg bool, args []string) {
	most, until, sent := 0, 0, http.Header{"Content-Type": {"application/json"}}
	var heads []string
	mustFail := false
	secure := &tls.Config{InsecureSkipVerify: true} // the name is printed
	for ; len(args) > 1 && strings.HasPrefix(args[0], "-"); args = args[2:] {
		switch args[0] {
		case "-lines":
			most, _ = strconv.Atoi(args[1]) // 0: all
		case "-until":
			until, _ = strconv.Atoi(args[1])
			mustFail = args[1] == "failed"
		case "-cert":
			pair, err := tls.LoadX509KeyPair(ts.MkAbs(args[1]+".pem"), ts.MkAbs(args[1]+"-key.pem"))
			ts.Check(err)
			secure.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &pair, nil } // whatever the server asks for
		case "-head":
			heads = append(heads, args[1])
		case "-with":
			text := args[1]
			if name, ok := strings.CutPrefix(text, "file:"); ok {
				text = ts.ReadFile(name)
			}
			name, value, _ := strings.Cut(text, ": ")
			sent.Add(name, value)
		}
	}
	if len(args) < 3 || len(args) > 5 {
		ts.Fatalf("usage: web [-lines N] [-head NAME]… [-with HEADER]… [-until STATUS] [-cert NAME] FILE METHOD PATH [TOKEN-FILE [BODY]]")
	}
	args = append(args, "", "")
	var text string
	ts.Check(mcptest.Eventually(replyTime, func() error {
		data, err := os.ReadFile(ts.MkAbs(args[0]))
		if text = string(data); err == nil && !webAddress.MatchString(text) {
			err = errors.New("no address was written")
		}
		return err
	}))
	body := args[4]
	if name, ok := strings.CutPrefix(body, "file:"); ok {
		body = ts.ReadFile(name)
	}
	if code := webCode.FindStringSubmatch(text); code != nil {
		body = strings.ReplaceAll(body, "ONCE", code[1])
	}
	ctx, cancel := context.WithTimeout(context.Background(), replyTime)
	defer cancel()
	if args[3] != "" {
		token := webToken.FindString(ts.ReadFile(args[3]))
		if strings.HasSuffix(args[3], ".token") {
			token = strings.TrimSuffix(ts.ReadFile(args[3]), "\n")
		}
		if token == "" {
			ts.Fatalf("%s holds no token", args[3])
		}
		sent.Set("Authorization", "Bearer "+strings.TrimSuffix(strings.TrimPrefix(token, `"token":"`), `"`))
	}
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: secure, DisableKeepAlives: true}}
	ask := func() (*http.Response, error) {
		request, err := http.NewRequestWithContext(ctx, args[1], webAddress.FindStringSubmatch(text)[1]+args[2], strings.NewReader(body))
		if err != nil {
			return nil, err
		}
		request.Header, request.Host = sent, sent.Get("Host")
		return client.Do(request)
	}
	if mustFail {
		ts.Check(mcptest.Eventually(replyTime, func() error {
			response, err := ask()
			if err == nil {
				_ = response.Body.Close()
				return fmt.Errorf("it is answered with %s", response.Status)
			}
			return nil // it failed, as it should
		}))
		return
	}
	response, err := askUntil(until, ask)
	if neg && errors.Is(err, io.EOF) {
		return
	}
	ts.Check(err)
	defer response.Body.Close()
	fmt.Fprintln(ts.Stdout(), response.StatusCode)
	if response.TLS != nil {
		fmt.Fprintln(ts.Stdout(), "certificate of", response.TLS.PeerCertificates[0].Subject.CommonName)
	}
	for _, name := range heads {
		fmt.Fprintf(ts.Stdout(), "%s: %s\n", name, strings.Join(response.Header.Values(name), ", "))
	}
	if most == 0 {
		answer, err := io.ReadAll(response.Body)
		_, _ = ts.Stdout().Write(answer) // into memory
		if failed := err != nil || bytes.Contains(answer, []byte(`"error":`)); neg && !failed || !neg && err != nil {
			ts.Fatalf("the answer ended with %v", err)
		}
	}
	for lines := bufio.NewScanner(response.Body); most > 0 && lines.Scan(); most-- {
		fmt.Fprintln(ts.Stdout(), lines.Text())
	}
}

// askUntil asks again until the answer has a status; 0: whatever it has.
func askUntil(status int, ask func() (*http.Response, error)) (*http.Response, error) {
	for deadline := time.Now().Add(replyTime); ; {
		response, err := ask()
		if err != nil || status == 0 || response.StatusCode == status {
			return response, err
		}
		response.Body.Close()
		if time.Now().After(deadline) {
			return nil, fmt.Errorf("the status is still %s", response.Status)
		}
	}
}
