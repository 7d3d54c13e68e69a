package oauthtest

import (
	"errors"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"time"
)

// Person is somebody with a browser: it keeps cookies, follows redirects, and fills in and sends the forms that it
// finds.
type Person struct {
	// Answers are what is typed into the fields of forms, by their names; others keep their values.
	Answers map[string]string
	// Stop ends the visit before an address is opened; nil: never.
	Stop func(address *url.URL) bool
	// Transport of the browser; nil: the default one.
	Transport http.RoundTripper

	client *http.Client
}

// Page is where a visit ended.
type Page struct {
	URL    string
	Status int
	Body   string
}

// answers are what a login form gets.
var answers = map[string]string{"login": "person", "password": "password"}

// Bounds of a visit.
const (
	maxSteps  = 30
	visitTime = 15 * time.Second
)

// Visit opens an address, and goes on until there is no redirect and no form any more.
func (p *Person) Visit(address string) (*Page, error) {
	if p.client == nil {
		jar, err := cookiejar.New(nil)
		if err != nil {
			return nil, err
		}
		p.client = &http.Client{Jar: jar, Transport: p.Transport, Timeout: visitTime, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	}
	request, err := http.NewRequest(http.MethodGet, address, nil)
	for range maxSteps {
		if err != nil {
			return nil, err
		}
		if p.Stop != nil && p.Stop(request.URL) {
			return &Page{URL: request.URL.String()}, nil
		}
		page, location, failure := p.open(request)
		if failure != nil {
			return nil, failure
		}
		switch next := p.form(page); {
		case location != "":
			var to *url.URL
			if to, err = request.URL.Parse(location); err == nil {
				request, err = http.NewRequest(http.MethodGet, to.String(), nil)
			}
		case next != nil:
			request = next
		default:
			return page, nil
		}
	}
	return nil, errors.New("the visit does not come to an end")
}

func (p *Person) open(request *http.Request) (page *Page, location string, err error) {
	request.Header.Set("Accept", "text/html")
	request.Header.Set("User-Agent", "a browser")
	response, err := p.client.Do(request)
	if err != nil {
		return nil, "", err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	if err != nil {
		return nil, "", err
	}
	if response.StatusCode >= 300 && response.StatusCode < 400 {
		location = response.Header.Get("Location")
	}
	return &Page{URL: request.URL.String(), Status: response.StatusCode, Body: string(body)}, location, nil
}

var (
	formTag   = regexp.MustCompile(`(?is)<form([^>]*)>(.*?)</form>`)
	fieldTag  = regexp.MustCompile(`(?is)<(?:input|button)([^>]*)>`)
	attribute = regexp.MustCompile(`(?is)([a-z-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')`)
)

// form is the request that sends the first form of a page; nil if there is none.
func (p *Person) form(page *Page) *http.Request {
	found := formTag.FindStringSubmatch(page.Body)
	if found == nil || page.Status >= 400 {
		return nil
	}
	at, err := url.Parse(page.URL)
	if err != nil {
		return nil
	}
	form := attributes(found[1])
	action, err := at.Parse(form["action"])
	if err != nil {
		return nil
	}
	values := make(url.Values)
	for _, tag := range fieldTag.FindAllStringSubmatch(found[2], -1) {
		field := attributes(tag[1])
		if name := field["name"]; name != "" {
			values.Set(name, field["value"])
			if answer, ok := p.Answers[name]; ok {
				values.Set(name, answer)
			}
		}
	}
	request, err := http.NewRequest(strings.ToUpper(form["method"]), action.String(), strings.NewReader(values.Encode()))
	if err != nil {
		return nil
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return request
}

func attributes(text string) map[string]string {
	found := make(map[string]string)
	for _, part := range attribute.FindAllStringSubmatch(text, -1) {
		found[strings.ToLower(part[1])] = html.UnescapeString(part[2] + part[3])
	}
	return found
}

// Callback logs in at the address of an authorization request and returns the address of the redirect, which is not
// opened: what a person would paste.
func Callback(address string) (string, error) { return (&Person{Answers: answers}).Callback(address) }

// Callback is the function of that name for this person.
func (p *Person) Callback(address string) (string, error) {
	defer func(stop func(*url.URL) bool) { p.Stop = stop }(p.Stop)
	p.Stop = func(at *url.URL) bool {
		query := at.Query()
		return query.Has("state") && (query.Has("code") || query.Has("error"))
	}
	page, err := p.Visit(address)
	if err != nil {
		return "", err
	}
	if page.Status != 0 {
		return "", fmt.Errorf("the visit ended at %s with status %d: %s", page.URL, page.Status, page.Body)
	}
	return page.URL, nil
}

// Browse is a program that is started as a browser is: the last argument is the address to open. The returned code is
// its exit code.
func Browse(args []string, stderr io.Writer) int {
	if len(args) == 0 {
		fmt.Fprintln(stderr, "usage: fakebrowser URL")
		return 2
	}
	person := &Person{Answers: answers}
	page, err := person.Visit(args[len(args)-1])
	if err != nil {
		fmt.Fprintln(stderr, "fakebrowser:", err)
		return 1
	}
	if page.Status >= 400 {
		fmt.Fprintf(stderr, "fakebrowser: %s: status %d: %s\n", page.URL, page.Status, page.Body)
		return 1
	}
	return 0
}
