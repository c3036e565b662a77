package kill

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
)

// calls are the numbers and the arguments that name a file (Linux's
// arch/x86/entry/syscalls/syscall_64.tbl): by descriptor or by path.
var calls = map[uint64]struct {
	name      string
	fd, paths []int
}{
	0: {name: "read", fd: []int{0}}, 17: {name: "pread64", fd: []int{0}}, 1: {name: "write", fd: []int{0}}, 18: {name: "pwrite64", fd: []int{0}},
	3: {name: "close", fd: []int{0}}, 5: {name: "fstat", fd: []int{0}}, 8: {name: "lseek", fd: []int{0}}, 9: {name: "mmap", fd: []int{4}},
	72: {name: "fcntl", fd: []int{0}}, 73: {name: "flock", fd: []int{0}}, 74: {name: "fsync", fd: []int{0}}, 75: {name: "fdatasync", fd: []int{0}},
	77: {name: "ftruncate", fd: []int{0}}, 91: {name: "fchmod", fd: []int{0}}, 93: {name: "fchown", fd: []int{0}}, 217: {name: "getdents64", fd: []int{0}},
	233: {name: "epoll_ctl", fd: []int{2}}, 285: {name: "fallocate", fd: []int{0}}, 332: {name: "statx", fd: []int{0}, paths: []int{1}},
	137: {name: "statfs", paths: []int{0}}, 257: {name: "openat", paths: []int{1}}, 262: {name: "newfstatat", paths: []int{1}},
	263: {name: "unlinkat", paths: []int{1}}, 264: {name: "renameat", paths: []int{1, 3}}, 265: {name: "linkat", paths: []int{1, 3}},
	267: {name: "readlinkat", paths: []int{1}}, 269: {name: "faccessat", paths: []int{1}}, 439: {name: "faccessat2", paths: []int{1}},
	2: {name: "open", paths: []int{0}}, 76: {name: "truncate", paths: []int{0}}, 260: {name: "fchownat", paths: []int{1}},
	268: {name: "fchmodat", paths: []int{1}}, 316: {name: "renameat2", paths: []int{1, 3}}, 437: {name: "openat2", paths: []int{1}},
	452: {name: "fchmodat2", paths: []int{1}}, 4: {name: "stat", paths: []int{0}}, 6: {name: "lstat", paths: []int{0}}, 21: {name: "access", paths: []int{0}}, 82: {name: "rename", paths: []int{0, 1}},
	86: {name: "link", paths: []int{0, 1}}, 87: {name: "unlink", paths: []int{0}}, 89: {name: "readlink", paths: []int{0}}, 90: {name: "chmod", paths: []int{0}},
}

// fileless are calls whose first argument is no descriptor, or one that leaves
// the file alone.
var fileless = []uint64{
	10, 11, 12, 13, 14, 15, 22, 24, 28, 35, 39, 56, 59, 60, 131, 157, 158, 160, 186, 202, 204, 231, 234, 281, 291, 293, 302, 318, 334, 435,
}

// trace runs a client under ptrace(2) and counts, over all its threads, the
// system calls that can change its journal: in place of the KillAt-th the
// client is killed. strace counts each thread's calls for itself, which is no
// number at all for a program whose goroutines change threads.
func trace(j job) error {
	runtime.LockOSThread()
	killAt := j.KillAt
	j.Role, j.KillAt = roleClient, 0
	text, err := json.Marshal(j)
	if err == nil {
		err = os.Setenv(jobVar, string(text))
	}
	if err != nil {
		return err
	}
	pid, err := syscall.ForkExec(os.Args[0], os.Args[:1], &syscall.ProcAttr{
		Env:   os.Environ(),
		Files: []uintptr{0, 1, 2},
		Sys:   &syscall.SysProcAttr{Ptrace: true},
	})
	if err != nil {
		return fmt.Errorf("%w: %w", errNoTrace, err)
	}
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(pid, &status, 0, nil); err != nil {
		return err
	}
	const exitKill = 1 << 20 // PTRACE_O_EXITKILL
	if err := syscall.PtraceSetOptions(pid, syscall.PTRACE_O_TRACESYSGOOD|syscall.PTRACE_O_TRACECLONE|exitKill); err != nil {
		return err
	}
	if err := syscall.PtraceSyscall(pid, 0); err != nil {
		return err
	}
	t := tracer{pid: pid, dir: filepath.Dir(j.journalPath())}
	threads := map[int]bool{pid: true}
	changes := 0
	for {
		tid, err := syscall.Wait4(-1, &status, syscall.WALL, nil)
		if err != nil {
			return err
		}
		if status.Exited() || status.Signaled() {
			if tid != pid {
				continue
			}
			say("traced %d", changes)
			if status.ExitStatus() != 0 && !(status.Signaled() && killAt > 0 && changes == killAt) {
				return fmt.Errorf("the client ended by itself: %#x", status)
			}
			return nil
		}
		deliver := 0
		switch signal := status.StopSignal(); {
		case signal == syscall.SIGTRAP|0x80:
			name, changing, err := t.entry(tid)
			if err != nil {
				return err
			}
			if name != "" && killAt == 0 {
				say("touched %s", name)
			}
			if changing {
				changes++
			}
			if changing && changes == killAt {
				if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
					return err
				}
				continue // it ends in this stop, and the call is not made
			}
		case signal == syscall.SIGTRAP: // an event
		case signal == syscall.SIGSTOP && !threads[tid]:
			threads[tid] = true
		default:
			deliver = int(signal)
		}
		if err := syscall.PtraceSyscall(tid, deliver); err != nil && err != syscall.ESRCH {
			return err
		}
	}
}

// A tracer looks at the calls of a process that touch what is below dir.
type tracer struct {
	pid int
	dir string
}

// entry says which call is about to be made, if it touches the journal, and
// whether it can change it. At a call's end it says nothing.
func (t tracer) entry(tid int) (name string, changing bool, err error) {
	var regs syscall.PtraceRegs
	if err := syscall.PtraceGetRegs(tid, &regs); err != nil {
		if err == syscall.ESRCH {
			return "", false, nil
		}
		return "", false, err
	}
	const entering = ^uint64(syscall.ENOSYS) + 1 // what the kernel shows as the result at the entry
	if regs.Rax != entering {
		return "", false, nil
	}
	args := [...]uint64{regs.Rdi, regs.Rsi, regs.Rdx, regs.R10, regs.R8, regs.R9}
	call, known := calls[regs.Orig_rax]
	if !known {
		for _, number := range fileless {
			if number == regs.Orig_rax {
				return "", false, nil
			}
		}
		call.name, call.fd = fmt.Sprintf("call-%d", regs.Orig_rax), []int{0}
	}
	touches := false
	for _, n := range call.fd {
		touches = touches || t.isOpen(args[n])
	}
	for _, n := range call.paths {
		touches = touches || t.isBelow(t.text(tid, uintptr(args[n])))
	}
	if !touches {
		return "", false, nil
	}
	for _, name := range Changing {
		changing = changing || name == call.name
	}
	return call.name, changing, nil
}

func (t tracer) isOpen(fd uint64) bool {
	if fd > 1<<16 {
		return false
	}
	path, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", t.pid, fd))
	return err == nil && t.isBelow(path)
}

func (t tracer) isBelow(path string) bool { return strings.HasPrefix(path, t.dir) }

// text reads a C string of the traced process.
func (t tracer) text(tid int, at uintptr) string {
	var text []byte
	for len(text) < 4096 {
		var word [8]byte
		n, err := syscall.PtracePeekData(tid, at+uintptr(len(text)), word[:])
		if err != nil {
			return ""
		}
		if end := bytes.IndexByte(word[:n], 0); end >= 0 {
			return string(append(text, word[:end]...))
		}
		text = append(text, word[:n]...)
	}
	return ""
}
