// Command powercut takes the power away from a broker under load, on a real file system, and checks that it kept its
// word.
//
//	powercut [-binary FILE] [-fs ext4,xfs] [-cuts 30] [-seed N] [-control] ...
//
// Root and a loop device are needed. Where they are not to be had it says so and exits with 77, which the caller may
// count as skipped; 1 is a failure.
//
// # A cut
//
//	load      publishers with confirms, consumers that acknowledge, queues that are declared meanwhile
//	sample    the time is taken: what was confirmed before it is owed
//	shutdown  the file system stops, and its journal is not flushed: what was not flushed before is gone
//	kill -9   unmount, mount; the file system recovers, as after a loss of power
//	restart   one in five is cut short by another shutdown while the broker recovers
//	drain     every queue is emptied, and the result checked
//
// A kill alone proves nothing about flushes, since the kernel keeps what was written. After the shutdown ioctl, ext4
// and xfs write neither data nor journal any more, and a new mount shows what had reached the device. A flush that
// races with the ioctl may be told that all is well, so only what was confirmed before it counts.
//
// The file system lies in a sparse file below a loop device. ext4 is mounted with commit=600, because by default it
// commits its journal every five seconds and so hides names that nobody has flushed. Journal files and memory of the
// broker are set to their least, so that journal files are recycled and messages moved to segments within an epoch; one
// kind of load has no backlog, so that nothing but the recycling touches the directories.
// The whole program runs in a mount namespace of its own: when it ends, by whatever cause, the mounts end, and the
// loop device clears itself.
//
// # What is demanded
//
// Package compat/torture/history does most of it. There are two histories of each epoch, which differ in what is owed:
//
//	durable    queues that flush before they confirm: everything confirmed before the sample
//	buffered   queues that confirm what is written: everything confirmed more than the window before the sample
//
// The window is -window, which is the interval of 100 ms after which the broker begins to flush and as much again for
// two cores that are busy, and six times what a flush of the disk below the image took at worst in that epoch. Six,
// because a record that is written while a flush runs waits for the end of that flush before the interval begins, and
// then for its own; and because one fdatasync makes the file system flush its device up to three times, for the data,
// the journal and the commit. On an idle machine that adds 20 ms, on one whose disk stands still for a moment a second.
// The report tells the age of the oldest loss and the widest window, so that the margin can be judged.
//
// Acknowledgements are flushed as buffered messages are. What the drain before an epoch has taken out may therefore be
// there again, if the cut comes within the window.
//
// Beyond package history:
//
//	vanished   owed, delivered, never acknowledged, and not there after the cut
//	phantom    there after the cut, though a reply that followed its acknowledgement had come more than the window before
//	gone       a queue that had been declared before the sample
//	start      the broker does not start on what the cut left
//
// # Negative controls
//
// With -control the program builds two brokers that must fail, with the tags noflush (no flush does anything) and
// nodirflush (files are flushed, their names are not), and fails if either keeps everything. That a broker refuses to
// start, because of what it misses, is as good. The second is found out on ext4 only: on xfs the fdatasync of a file
// happens to flush its name.
//
// # Replay
//
// The seed, printed first, decides everything but how the operating system interleaves the processes. After a violation
// the work folder is kept: the broker's log, the image, and in "after-cut" the data folder as the broker found it.
package main
