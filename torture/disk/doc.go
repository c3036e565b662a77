// Package disk is the part of the torture run that is about power cuts and
// failing disks. It has tests only, which run on Linux.
//
// A child process uses a journal and says what was acknowledged, under
// strace(1), which writes down each system call with its data. From that the
// state of the disk is rebuilt as a power cut may leave it at any moment: what
// was not synced is there, or is not, or is there in part. Every such image is
// opened and has to hold all that was acknowledged. In the same way a child's
// system calls are made to fail, one after another.
//
// What is assumed of a disk: what a successful sync covered is there. Before
// that, any 8 bytes of any write may be there or not. After a failed sync the
// data that it covered may never be there, though reads show it until the power
// cut.
package disk
