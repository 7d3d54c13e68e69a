//go:build unix

package script

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"

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
// lines. Each -with is a header that the request has. Negated, the connection has to break before the end of the answer.
func web(ts *testscript.TestScript, neg bool, args []string) {
	most, sent := 0, http.Header{"Content-Type": {"application/json"}}
	var heads []string
	for ; len(args) > 1 && strings.HasPrefix(args[0], "-"); args = args[2:] {
		switch args[0] {
		case "-lines":
			most, _ = strconv.Atoi(args[1]) // 0: all
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
		ts.Fatalf("usage: web [-lines N] [-head NAME]… [-with HEADER]… FILE METHOD PATH [TOKEN-FILE [BODY]]")
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
	request, err := http.NewRequestWithContext(ctx, args[1], webAddress.FindStringSubmatch(text)[1]+args[2], strings.NewReader(body))
	ts.Check(err)
	request.Header = sent
	if host := sent.Get("Host"); host != "" {
		request.Host = host
	}
	if args[3] != "" {
		token := webToken.FindString(ts.ReadFile(args[3]))
		if strings.HasSuffix(args[3], ".token") {
			token = strings.TrimSuffix(ts.ReadFile(args[3]), "\n")
		}
		if token == "" {
			ts.Fatalf("%s holds no token", args[3])
		}
		request.Header.Set("Authorization", "Bearer "+strings.TrimSuffix(strings.TrimPrefix(token, `"token":"`), `"`))
	}
	response, err := http.DefaultClient.Do(request)
	if neg && errors.Is(err, io.EOF) {
		return
	}
	ts.Check(err)
	defer response.Body.Close()
	fmt.Fprintln(ts.Stdout(), response.StatusCode)
	for _, name := range heads {
		fmt.Fprintf(ts.Stdout(), "%s: %s\n", name, strings.Join(response.Header.Values(name), ", "))
	}
	if most == 0 {
		_, err = io.Copy(ts.Stdout(), response.Body)
		if neg != (err != nil) {
			ts.Fatalf("the answer ended with %v", err)
		}
	}
	for lines := bufio.NewScanner(response.Body); most > 0 && lines.Scan(); most-- {
		fmt.Fprintln(ts.Stdout(), lines.Text())
	}
}
