//go:build unix

package main

import (
	"os/exec"
	"syscall"
)

// ownGroup puts a process and those that it starts into a group of their own,
// which ends with it when it is killed.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
