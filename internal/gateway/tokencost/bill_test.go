package tokencost

import "testing"

func TestSentence(t *testing.T) {
	for _, test := range []struct {
		bill Bill
		want string
	}{
		{Bill{tools: 300, listed: 60_000, ours: []int{400, 500}, instructions: 100}, "Listed directly, 300 tools would cost a client about 60,000 tokens of context; through the workbench it starts with 1,000: 98 % less."},
		{Bill{tools: 1, listed: 50, ours: []int{900}}, "Listed directly, 1 tool would cost a client about 50 tokens of context; through the workbench it starts with 900, which hardly grows with the servers that you add."},
		{Bill{ours: []int{900}}, "Through the workbench, a client starts with about 900 tokens of context, whatever the number of tools."},
	} {
		if got := test.bill.Sentence(); got != test.want {
			t.Errorf("%q, want %q", got, test.want)
		}
	}
}
