package main

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestSettingsOfAScenario(t *testing.T) {
	folder := t.TempDir()
	for name, one := range map[string]struct {
		context string
		key     string
		want    any
	}{
		"nothing told":     {"", "clientMetadataUrl", clientDocument},
		"pre-registration": {`{"name":"auth/pre-registration","client_id":"id","client_secret":"secret"}`, "clientSecret", "secret"},
		"a key":            {`{"name":"auth/client-credentials-jwt","client_id":"id","private_key_pem":"PEM"}`, "privateKeyFile", filepath.Join(folder, "key.pem")},
		"an assertion":     {`{"name":"auth/wif-jwt-bearer","client_id":"id","valid_jwt":"JWT"}`, "grant", "jwt-bearer"},
		"an enterprise":    {`{"name":"auth/enterprise-managed-authorization","client_id":"id","idp_id_token":"JWT"}`, "grant", "id-jag"},
	} {
		t.Run(name, func(t *testing.T) {
			found, err := settings(folder, one.context)
			if err != nil || found[one.key] != one.want {
				t.Errorf("%s = %v, %v; want %v", one.key, found[one.key], err, one.want)
			}
		})
	}
	if text, err := os.ReadFile(filepath.Join(folder, "key.pem")); err != nil || string(text) != "PEM" {
		t.Errorf("the key is %q, %v", text, err)
	}
}

func TestAClientThatEndsOtherwiseFails(t *testing.T) {
	file := filepath.Join(t.TempDir(), "failures")
	found := results{"auth/good": {{ID: "a", Status: "SUCCESS"}}, "auth/bad": {{ID: "a", Status: "SUCCESS"}}}
	if err := found.addFailures(file); err != nil {
		t.Fatalf("without a failure: %v", err)
	}
	for scenario, failure := range map[string]error{"auth/bad": errors.New("exit status 1"), "auth/missing": nil} {
		if err := noteFailure(file, scenario, failure); err != nil {
			t.Fatal(err)
		}
	}
	if err := found.addFailures(file); err != nil {
		t.Fatal(err)
	}
	verdicts := column{results: found}
	for scenario, want := range map[string]string{"auth/good": passed, "auth/bad": failed, "auth/missing": failed} {
		if got := verdicts.verdict(scenario); got != want {
			t.Errorf("%s: %s, want %s", scenario, got, want)
		}
	}
}
