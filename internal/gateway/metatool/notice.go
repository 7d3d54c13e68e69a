package metatool

// Withhold tells clients why a file of the configuration is not used. Where no toolbox is
// left, the notice is the instructions and the answer of every call; otherwise it comes with
// the instructions, with every toolbox that is opened, and where a toolbox is not found. It is to
// be called before the first client comes.
func (s *Surface) Withhold(notice string) { s.notice = notice }

// isWithheld reports whether the notice is all that clients get.
func (s *Surface) isWithheld() bool { return s.notice != "" && len(s.visible.Toolboxes()) == 0 }

// failUnknown fails a request for a toolbox that is not there. It may be in the file that is
// not used.
func (s *Surface) failUnknown(o *Origin, blocks ...string) {
	if s.notice != "" {
		blocks = append(blocks, s.notice)
	}
	o.fail(blocks...)
}
