// Package disk is the part of the torture run that is about power cuts and
// failing disks. It has tests only.
//
// A child process uses a journal and says what was acknowledged, under
// strace(1), which writes down each system call with its data. From that the
// state of the disk is rebuilt as a power cut may leave it at any moment: what
// was not synced is there, or is not, or is there in part. Every such image is
// opened and has to hold all that was acknowledged. In the same way a child's
// system calls are made to fail, one after another.
package disk
