package metatool

// showsNoticeOnly reports whether clients get nothing but the notice.
func (s *Surface) showsNoticeOnly() bool { return s.notice != "" && len(s.visible.Toolboxes()) == 0 }

// failUnknownToolbox fails a request for an unknown toolbox, which may be in the file that is not used.
func (s *Surface) failUnknownToolbox(o *Origin, blocks ...string) {
	if s.notice != "" {
		blocks = append(blocks, s.notice)
	}
	o.fail(blocks...)
}
