package front

import (
	"fmt"
	"testing"
	"testing/synctest"
)

// fullTable returns a table with as many requests as there may be.
func fullTable(t *testing.T) *requestTable {
	t.Helper()
	table := newRequestTable()
	for i := range maxInFlight {
		if _, ok := table.add(fmt.Sprint(i), &request{}); !ok {
			t.Fatalf("request %d was refused", i)
		}
	}
	return &table
}

// addLater adds one more request in the background.
func addLater(table *requestTable) <-chan bool {
	verdict := make(chan bool, 1)
	go func() {
		_, ok := table.add("one more", &request{})
		verdict <- ok
	}()
	synctest.Wait()
	return verdict
}

func TestRequestsWaitWhileTooManyAreInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := fullTable(t)
		verdict := addLater(table)
		if len(verdict) > 0 {
			t.Fatal("it did not wait")
		}
		table.remove("7")
		synctest.Wait()
		if len(verdict) == 0 || !<-verdict {
			t.Error("it was refused when there was room")
		}
	})
}

func TestRequestsThatWaitEndWithTheSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := fullTable(t)
		verdict := addLater(table)
		table.close()
		table.giveUp(errGivenUp)
		synctest.Wait()
		if len(verdict) == 0 || <-verdict {
			t.Error("it still waits, or was accepted")
		}
	})
}
