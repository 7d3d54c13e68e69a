package metatool

// showsNoticeOnly reports whether the notice is all that clients get.
func (s *Surface) showsNoticeOnly() bool { return s.notice != "" && len(s.visible.Toolboxes()) == 0 }

// failUnknownToolbox fails a request for a toolbox that is not there. It may be in the file that is
// not used.
func (s *Surface) failUnknownToolbox(o *Origin, blocks ...string) {
	if s.notice != "" {
		blocks = append(blocks, s.notice)
	}
	o.fail(blocks...)
}
