package process

import "testing"

func TestTree(t *testing.T) {
	r := newReport(t)
	p := start(t, newTestHost(t, HostOptions{}), roleSpec("mix", r))
	r.await(mixSize)
	tree := Tree(p.PID())
	if len(tree) < 2 || tree[0].PID != p.PID() {
		t.Fatalf("the tree is %+v", tree)
	}
	seen := map[int]bool{tree[0].Parent: true}
	for _, one := range tree {
		if !seen[one.Parent] || one.Name == "" || one.Memory < 0 {
			t.Errorf("%+v comes before its parent, or is incomplete", one)
		}
		seen[one.PID] = true
	}
	stop(t, p)
	if tree := Tree(p.PID()); len(tree) != 0 {
		t.Errorf("afterwards it is %+v", tree)
	}
}
