package keratin

import (
	"fmt"
	"sync"
	"testing"
	"time"
)

// lone is a waiter for a single goroutine that commits itself: told before Commit returns, if it was the writer.
type lone struct{ done chan struct{} }

func (w *lone) Committed(error) { w.done <- struct{}{} }

func BenchmarkAppend(b *testing.B) {
	for _, gate := range []Mark{Written, Durable} {
		for _, batch := range []int{1, 16} {
			for _, publishers := range []int{1, 8, 64} {
				name := fmt.Sprintf("gate=%d/batch=%d/publishers=%d", gate, batch, publishers)
				b.Run(name, func(b *testing.B) {
					interval := time.Duration(-1)
					s, err := Open(b.TempDir(), Options{SyncInterval: interval})
					if err != nil {
						b.Fatal(err)
					}
					defer s.Abandon()
					l, _, err := s.OpenLog(1, LogOptions{}, nil)
					if err != nil {
						b.Fatal(err)
					}
					b.ReportAllocs()
					b.ResetTimer()
					var wg sync.WaitGroup
					for p := range publishers {
						n := b.N / publishers
						if p == 0 {
							n += b.N % publishers
						}
						wg.Go(func() {
							var batchOf Batch
							w := &lone{make(chan struct{}, 1)}
							for ; n > 0; n -= batch {
								for range batch {
									batchOf.Reserve(1, 128)[0] = 1
								}
								if _, err := l.Stage(&batchOf, gate, w); err != nil {
									b.Error(err)
									return
								}
								s.Commit()
								<-w.done
							}
						})
					}
					wg.Wait()
					b.StopTimer()
					st := s.Stats()
					b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "records/s")
					if st.Flushes > 0 {
						b.ReportMetric(float64(st.Records)/float64(st.Flushes), "records/flush")
					}
				})
			}
		}
	}
}

// BenchmarkRecovery opens what a kill has left: many small logs, and one busy one.
func BenchmarkRecovery(b *testing.B) {
	for _, x := range []struct{ logs, records, size int }{{10_000, 100, 128}, {1, 256 << 10, 1024}} {
		b.Run(fmt.Sprintf("logs=%d/records=%d/size=%d", x.logs, x.records, x.size), func(b *testing.B) {
			dir := b.TempDir()
			o := Options{SyncInterval: -1, JournalFiles: 1 << 20, TailBytes: 8 << 30}
			s, err := Open(dir, o)
			if err != nil {
				b.Fatal(err)
			}
			logs := make([]*Log, x.logs)
			for i := range logs {
				logs[i] = openLog(b, s, LogID(i+1))
			}
			var batch Batch
			for range x.records {
				for _, l := range logs {
					batch.Reserve(1, x.size)
					if _, err := l.Stage(&batch, Written, nil); err != nil {
						b.Fatal(err)
					}
				}
				s.Commit()
			}
			bytes := s.Stats().JournalBytes
			s.Abandon()
			b.SetBytes(int64(bytes))
			for b.Loop() {
				s, err := Open(dir, o)
				if err != nil {
					b.Fatal(err)
				}
				if n := len(s.Logs()); n != x.logs {
					b.Fatalf("%d logs", n)
				}
				s.Abandon()
			}
		})
	}
}
