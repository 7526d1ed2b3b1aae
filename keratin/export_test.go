package keratin

// ConfirmEarly makes the store tell durable waiters when their records have been written, before any flush: the bug
// that the crash tests must find.
func (s *Store) ConfirmEarly() { s.flush.early = true }
