package queue

import "github.com/warrenmq/warren/keratin"

// Log is what a queue needs from its log. *keratin.Log has it; a replicated log will. The methods may be called at
// once with each other and with the store's.
type Log interface {
	// Stage gives the batch's records the next offsets and takes over their memory; b is empty afterwards. w, if
	// not nil, is told once: when the mark named by gate covers everything staged so far, or that it never will. An
	// empty batch is fine for that.
	Stage(b *keratin.Batch, gate keratin.Mark, w keratin.Waiter) (first keratin.Offset, err error)
	Marks() keratin.Marks
	// Next returns the record at from, io.EOF if that is not below both the written mark and below, and ErrTrimmed
	// if it lies below the head. The record's data is never changed again.
	Next(c *keratin.Cursor, from keratin.Offset, below keratin.Frontier) (keratin.Record, error)
	// Trim tells that nothing below head is needed any more, once everything staged so far is durable.
	Trim(head keratin.Frontier)
}

// LogStore opens and removes logs, and writes what has been staged on any of them.
type LogStore interface {
	OpenLog(id keratin.LogID, o keratin.LogOptions, owner keratin.Owner) (Log, keratin.Recovered, error)
	// RemoveLog forgets a log and its records. Waiters are told keratin.ErrClosed.
	RemoveLog(id keratin.LogID) error
	// Logs returns the logs that recovery has found.
	Logs() []keratin.LogID
	// Commit sees to it that everything staged is written, by this goroutine or by one that is at it.
	Commit()
	// Write is Commit for whoever must not go on before everything that was staged before the call is written.
	Write()
}

// OnKeratin makes a local storage engine a LogStore.
func OnKeratin(s *keratin.Store) LogStore { return local{s} }

type local struct{ *keratin.Store }

// OpenLog keeps a nil *keratin.Log from becoming a Log that is not nil.
func (l local) OpenLog(id keratin.LogID, o keratin.LogOptions, owner keratin.Owner) (Log, keratin.Recovered, error) {
	log, rec, err := l.Store.OpenLog(id, o, owner)
	if err != nil {
		return nil, rec, err
	}
	return log, rec, nil
}
