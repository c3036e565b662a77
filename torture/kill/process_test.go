//go:build unix

package kill

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"

	"github.com/oncehttp/oncehttp/torture/tally"
)

// A process is this test binary, with a job.
type process struct {
	cmd     *exec.Cmd
	stdin   io.Writer
	first   chan struct{} // closed when it has said a line
	stopped chan struct{} // closed when it has stopped at its point
	heard   chan struct{} // closed when it has said all
}

// start starts a process; hear gets what it says, but that it has stopped.
func (w *world) start(j job, hear func(string)) (*process, error) {
	j.Dir, j.URL = w.Dir, w.URL
	text, err := json.Marshal(j)
	if err != nil {
		return nil, err
	}
	p := &process{cmd: exec.Command(os.Args[0]), first: make(chan struct{}), stopped: make(chan struct{}), heard: make(chan struct{})}
	p.cmd.Env = append(os.Environ(), jobVar+"="+string(text))
	p.cmd.Stderr = os.Stderr
	if j.Role == roleServer {
		p.cmd.ExtraFiles = []*os.File{w.listener}
	}
	if p.stdin, err = p.cmd.StdinPipe(); err != nil { // it ends when this process does
		return nil, err
	}
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		defer close(p.heard)
		said := false
		for scan := bufio.NewScanner(stdout); scan.Scan(); {
			line := scan.Text()
			if line == "stopped" {
				close(p.stopped)
			} else {
				hear(line)
			}
			if !said {
				said = true
				close(p.first)
			}
		}
	}()
	return p, nil
}

// startServer starts the server, or starts it again where it was killed.
func (w *world) startServer(j job) (err error) {
	j.Role = roleServer
	w.server, err = w.start(j, w.hear)
	return err
}

// startClient begins another life.
func (w *world) startClient(j job) (*process, error) {
	w.mu.Lock()
	w.life++
	w.mu.Unlock()
	return w.start(j, w.hear)
}

// limit is how long a process may take to get somewhere.
const limit = 2 * time.Minute

var (
	errEnded = errors.New("the process ended before it got there")
	errDone  = errors.New("the process had come to its end")
	errHangs = errors.New("the process does not get there")
)

// wait waits until a process has got there, which it can until a process has
// ended.
func wait(there, ended <-chan struct{}) error {
	late := time.NewTimer(limit)
	defer late.Stop()
	select {
	case <-there:
		return nil
	case <-ended:
		select {
		case <-there:
			return nil
		default:
			return errEnded
		}
	case <-late.C:
		return errHangs
	}
}

// goOn lets a process go on that has stopped.
func (p *process) goOn() error {
	_, err := io.WriteString(p.stdin, "\n")
	return err
}

// kill ends the process with SIGKILL, and returns when all that it said was
// heard. It is errDone if the process had come to its end before.
func (p *process) kill() error {
	if err := p.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	<-p.heard
	p.cmd.Wait()
	if p.cmd.ProcessState.Success() {
		return errDone
	}
	if status, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGKILL {
		return fmt.Errorf("the process was to be killed, and ended by itself: %v", p.cmd.ProcessState)
	}
	return nil
}

// kill kills a process of the world. One that failed before is a finding.
func (w *world) kill(p *process) error {
	err := p.kill()
	switch {
	case errors.Is(err, errDone):
		return nil
	case err != nil:
		w.broken(tally.Panics, "%v", err)
		return err
	}
	w.killed()
	return nil
}

// end waits until the process has ended by itself.
func (p *process) end() error {
	late := time.AfterFunc(limit, func() { p.cmd.Process.Kill() })
	defer late.Stop()
	<-p.heard
	return p.cmd.Wait()
}
