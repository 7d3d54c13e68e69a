package era

import "testing"

func TestRaisePages(t *testing.T) {
	const page = `{"mode":"url","elicitationId":"e","url":"https://example.com","message":"m"}`
	for _, test := range []struct{ name, given, want string }{
		{
			"two pages", `{"code":-32042,"message":"m","data":{"elicitations":[` + page + `,7,` + page + `]}}`,
			`{"resultType":"input_required","inputRequests":{` +
				`"page-1":{"method":"elicitation/create","params":{"mode":"url","url":"https://example.com","message":"m"}},` +
				`"page-2":{"method":"elicitation/create","params":{"mode":"url","url":"https://example.com","message":"m"}}}}`,
		},
		{"no pages", `{"code":-32042,"message":"m"}`, ``},
		{"another error", `{"code":-32602,"message":"m","data":{"elicitations":[` + page + `]}}`, ``},
	} {
		t.Run(test.name, func(t *testing.T) { check(t, test.given, RaisePages, test.want) })
	}
}
