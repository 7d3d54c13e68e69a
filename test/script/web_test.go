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
// the program has written it. It prints the status and the answer, or with -lines N its first lines.
func web(ts *testscript.TestScript, neg bool, args []string) {
	most := 0
	if len(args) > 1 && args[0] == "-lines" {
		most, _ = strconv.Atoi(args[1]) // 0: all
		args = args[2:]
	}
	if len(args) < 3 || len(args) > 5 || neg {
		ts.Fatalf("usage: web [-lines N] FILE METHOD PATH [TOKEN-FILE [BODY]]")
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
	if code := webCode.FindStringSubmatch(text); code != nil {
		body = strings.ReplaceAll(body, "ONCE", code[1])
	}
	ctx, cancel := context.WithTimeout(context.Background(), replyTime)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, args[1], webAddress.FindStringSubmatch(text)[1]+args[2], strings.NewReader(body))
	ts.Check(err)
	request.Header.Set("Content-Type", "application/json")
	if args[3] != "" {
		token := webToken.FindString(ts.ReadFile(args[3]))
		if token == "" {
			ts.Fatalf("%s holds no token", args[3])
		}
		request.Header.Set("Authorization", "Bearer "+strings.TrimSuffix(strings.TrimPrefix(token, `"token":"`), `"`))
	}
	response, err := http.DefaultClient.Do(request)
	ts.Check(err)
	defer response.Body.Close()
	fmt.Fprintln(ts.Stdout(), response.StatusCode)
	if most == 0 {
		_, err = io.Copy(ts.Stdout(), response.Body)
		ts.Check(err)
	}
	for lines := bufio.NewScanner(response.Body); most > 0 && lines.Scan(); most-- {
		fmt.Fprintln(ts.Stdout(), lines.Text())
	}
}
