//go:build unix

package script

import (
	"bufio"
	"crypto/tls"
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

// webOptions are the flags of web.
type webOptions struct {
	lines  int         // of the answer; 0: all
	until  int         // the request is repeated until it has this status; 0: it is sent once
	header http.Header // in addition
	cert   string      // of the client, as 'certificate' made it; "": none
}

// read reads the flags, and returns the other arguments.
func (o *webOptions) read(args []string) ([]string, error) {
	o.header = make(http.Header)
	for len(args) > 1 && strings.HasPrefix(args[0], "-") {
		var err error
		switch args[0] {
		case "-lines":
			o.lines, err = strconv.Atoi(args[1])
		case "-until":
			o.until, err = strconv.Atoi(args[1])
		case "-cert":
			o.cert = args[1]
		case "-header":
			name, value, _ := strings.Cut(args[1], ": ")
			o.header.Add(name, value)
		default:
			err = fmt.Errorf("%s is no flag", args[0])
		}
		if err != nil {
			return nil, err
		}
		args = args[2:]
	}
	return args, nil
}

// web sends a request as the page in a browser does: [FLAGS] FILE METHOD PATH [TOKEN-FILE [BODY]]. The file holds the address, once
// the program has written it. It prints the status and the answer. Over HTTPS it also prints the name in the server's certificate, which it
// does not verify. With ! it waits until the connection fails.
func web(ts *testscript.TestScript, neg bool, args []string) {
	var options webOptions
	args, err := options.read(args)
	if err != nil || len(args) < 3 || len(args) > 5 {
		ts.Fatalf("usage: web [-lines N] [-until STATUS] [-header 'NAME: VALUE'] [-cert NAME] FILE METHOD PATH [TOKEN-FILE [BODY]]: %v", err)
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
	if args[3] != "" {
		token := webToken.FindString(ts.ReadFile(args[3]))
		if token == "" {
			ts.Fatalf("%s holds no token", args[3])
		}
		options.header.Set("Authorization", "Bearer "+strings.TrimSuffix(strings.TrimPrefix(token, `"token":"`), `"`))
	}
	settings := &tls.Config{InsecureSkipVerify: true} // the name is printed
	if options.cert != "" {
		pair, err := tls.LoadX509KeyPair(ts.MkAbs(options.cert+".pem"), ts.MkAbs(options.cert+"-key.pem"))
		ts.Check(err)
		settings.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &pair, nil } // whatever the server asks for
	}
	client := &http.Client{Timeout: replyTime, Transport: &http.Transport{TLSClientConfig: settings, DisableKeepAlives: true}}
	send := func() (*http.Response, error) {
		request, err := http.NewRequest(args[1], webAddress.FindStringSubmatch(text)[1]+args[2], strings.NewReader(body))
		if err != nil {
			return nil, err
		}
		request.Header = options.header.Clone()
		request.Header.Set("Content-Type", "application/json")
		return client.Do(request)
	}
	if neg {
		ts.Check(mcptest.Eventually(replyTime, func() error {
			response, err := send()
			if err != nil {
				return nil
			}
			_ = response.Body.Close()
			return fmt.Errorf("it is answered with %s", response.Status)
		}))
		return
	}
	options.print(ts, send)
}

// print sends a request, and prints the answer.
func (o *webOptions) print(ts *testscript.TestScript, send func() (*http.Response, error)) {
	var response *http.Response
	ts.Check(mcptest.Eventually(replyTime, func() (err error) {
		if response, err = send(); err != nil {
			if o.until == 0 {
				ts.Check(err)
			}
			return err
		}
		if o.until != 0 && response.StatusCode != o.until {
			_ = response.Body.Close()
			return fmt.Errorf("the status is %d", response.StatusCode)
		}
		return nil
	}))
	defer response.Body.Close()
	fmt.Fprintln(ts.Stdout(), response.StatusCode)
	if response.TLS != nil {
		fmt.Fprintln(ts.Stdout(), "certificate of", response.TLS.PeerCertificates[0].Subject.CommonName)
	}
	if o.lines == 0 {
		_, err := io.Copy(ts.Stdout(), response.Body)
		ts.Check(err)
	}
	for lines := bufio.NewScanner(response.Body); o.lines > 0 && lines.Scan(); o.lines-- {
		fmt.Fprintln(ts.Stdout(), lines.Text())
	}
}
