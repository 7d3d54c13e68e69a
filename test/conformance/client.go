package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/test/oauthtest"
)

// clientRole makes this program the client that the suite starts. Where the scenario is about the login to a server, the
// client is the workbench itself; else it is the real client, with a workbench between.
const clientRole = "client"

// browserRole makes this program the browser that the workbench opens.
const browserRole = "browser"

// loginScenarios begin the names of the scenarios that are about logins.
const loginScenarios = "auth/"

// refused are the scenarios in which the login or the call must fail.
var refused = []string{
	"auth/scope-retry-limit", "auth/resource-mismatch", "auth/iss-supported-missing", "auth/iss-wrong-issuer",
	"auth/iss-unexpected", "auth/iss-normalized", "auth/metadata-issuer-mismatch",
}

// clientDocument is the address that the suite expects of a client whose id is that of a document.
const clientDocument = "https://conformance-test.local/client-metadata.json"

// asClient takes the workbench, the real client, a file for failures, and the address of the suite's server.
func asClient(arguments []string) int {
	if len(arguments) != 4 {
		fmt.Fprintln(os.Stderr, "usage: conformance client WORKBENCH CLIENT FAILURES URL")
		return 2
	}
	binary, client, failures, url := arguments[0], arguments[1], arguments[2], arguments[3]
	name := os.Getenv("MCP_CONFORMANCE_SCENARIO")
	if !strings.HasPrefix(name, loginScenarios) {
		return between(binary, client, url)
	}
	ctx, cancel := context.WithTimeout(context.Background(), betweenTime)
	defer cancel()
	err := callWithLogin(ctx, binary, url)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	if (err != nil) == slices.Contains(refused, name) {
		return 0
	}
	// The suite saves what it saw, and not how the client ended.
	if err := noteFailure(failures, name, err); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	return 1
}

// callWithLogin calls the tool of the suite's server as a person with a terminal does.
func callWithLogin(ctx context.Context, binary, url string) error {
	folder, err := os.MkdirTemp("", "workbench-client-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	oauth, err := settings(folder, os.Getenv("MCP_CONFORMANCE_CONTEXT"))
	if err != nil {
		return err
	}
	configuration, err := writeConfiguration(folder, map[string]any{"url": url, "oauth": oauth})
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, binary, "call", toolboxName+"/"+serverName+"/test-tool", "--login", "--alone", "--config", configuration)
	cmd.Env = append(os.Environ(), "HOME="+folder, "XDG_STATE_HOME="+filepath.Join(folder, "state"), "XDG_RUNTIME_DIR="+folder, "BROWSER="+self+" "+browserRole)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.WaitDelay = stopTime
	return cmd.Run()
}

// given is what a scenario tells its client.
type given struct {
	Name             string
	ClientID         string `json:"client_id"`
	ClientSecret     string `json:"client_secret"`
	PrivateKey       string `json:"private_key_pem"`
	Algorithm        string `json:"signing_algorithm"`
	Assertion        string `json:"valid_jwt"`
	IDPClient        string `json:"idp_client_id"`
	IDToken          string `json:"idp_id_token"`
	IDPIssuer        string `json:"idp_issuer"`
	IDPTokenEndpoint string `json:"idp_token_endpoint"`
}

// settings are the "oauth" of the server in the configuration, by what the scenario tells its client.
func settings(folder, context string) (map[string]any, error) {
	oauth := map[string]any{"clientMetadataUrl": clientDocument}
	if context == "" {
		return oauth, nil
	}
	var told given
	if err := json.Unmarshal([]byte(context), &told); err != nil {
		return nil, err
	}
	oauth = map[string]any{"clientId": told.ClientID}
	if told.ClientSecret != "" {
		oauth["clientSecret"] = told.ClientSecret
	}
	write := func(name, content string) string {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600); err != nil {
			fmt.Fprintln(os.Stderr, err) // and then the workbench says that it is missing
		}
		return filepath.Join(folder, name)
	}
	switch told.Name {
	case "auth/client-credentials-basic":
		oauth["grant"], oauth["tokenEndpointAuthMethod"] = "client_credentials", "client_secret_basic"
	case "auth/client-credentials-jwt":
		oauth["grant"], oauth["tokenEndpointAuthMethod"] = "client_credentials", "private_key_jwt"
		oauth["privateKeyFile"] = write("key.pem", told.PrivateKey)
		if told.Algorithm != "" {
			oauth["signingAlgorithm"] = told.Algorithm
		}
	case "auth/wif-jwt-bearer":
		oauth["grant"], oauth["assertionFile"] = "jwt-bearer", write("assertion.jwt", told.Assertion)
	case "auth/enterprise-managed-authorization":
		oauth["grant"], oauth["tokenEndpointAuthMethod"] = "id-jag", "client_secret_basic"
		oauth["identityProvider"] = map[string]any{
			"issuer": told.IDPIssuer, "tokenEndpoint": told.IDPTokenEndpoint, "clientId": told.IDPClient, "idTokenFile": write("id.jwt", told.IDToken),
		}
	}
	return oauth, nil
}

func noteFailure(file, scenario string, failure error) error {
	if failure == nil {
		failure = errors.New("the call succeeded, and it must not")
	}
	out, err := os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%s %s\n", scenario, failure)
	return errors.Join(err, out.Close())
}

// addFailures adds a check to each scenario whose client did not end as it has to.
func (r results) addFailures(file string) error {
	text, err := os.Open(file)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer text.Close()
	lines := bufio.NewScanner(text)
	for lines.Scan() {
		scenario, failure, _ := strings.Cut(lines.Text(), " ")
		r[scenario] = append(r[scenario], check{ID: "client-ended-as-expected", Status: "FAILURE", Message: failure})
	}
	return lines.Err()
}

// browse is the browser: the suite's authorization servers redirect at once.
func browse(arguments []string) int { return oauthtest.Browse(arguments, os.Stderr) }
