package search

import (
	"fmt"
	"reflect"
	"testing"
)

func TestAToolThatAddsComesBeforeOneThatRepeats(t *testing.T) {
	documents := []Document{
		{Server: "one", Name: "read"},
		{Server: "two", Name: "read"},
		{Server: "three", Name: "mail"},
		{Server: "four", Name: "mail"},
	}
	index := New(documents)
	var order []int
	for _, hit := range index.Find("read mail", nil, 4) {
		order = append(order, hit.Index)
	}
	if want := []int{0, 2, 1, 3}; !reflect.DeepEqual(order, want) {
		t.Errorf("the order is %v, not %v", order, want)
	}
}

func TestTheLimitDoesNotChangeTheOrder(t *testing.T) {
	var documents []Document
	for i := range 3 * coverDepth {
		documents = append(documents, Document{Server: fmt.Sprint("s", i), Name: []string{"read_file", "send_mail", "list_folder"}[i%3]})
	}
	index := New(documents)
	all := index.Find("read a file, send a mail", nil, len(documents))
	for limit := 1; limit <= len(all); limit++ {
		if got := index.Find("read a file, send a mail", nil, limit); !reflect.DeepEqual(got, all[:limit]) {
			t.Fatalf("the first %d are %v, of all %v", limit, got, all)
		}
	}
	if all[0].Score < all[1].Score {
		t.Errorf("the first hit scores %v, the second %v", all[0].Score, all[1].Score)
	}
}
