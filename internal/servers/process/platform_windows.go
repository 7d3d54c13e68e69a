package process

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

const (
	jobInterval = 20 * time.Millisecond // between checks of a job that was ended
	killedCode  = 1                     // exit status of processes that the workbench ends
)

// platform is the Windows part of a Host, which is empty. Each tree is a job object that ends with its last handle, and
// the kernel closes that whenever the workbench ends. So there is no guard. Work handed to services (WMI, the task
// scheduler) escapes.
type platform struct{}

func newPlatform(HostOptions) *platform { return &platform{} }

func (*platform) prepare() error { return nil }
func (*platform) close() error   { return nil }

// GuardMain does nothing on Windows, where no guard is needed.
func GuardMain([]string) int { return 2 }

// tree is the job of one server.
type tree struct {
	job windows.Handle
}

// start starts cmd suspended and resumes it once it is in its job, so that it cannot have children outside. If the
// workbench is killed in between, a process that never ran is left.
func (*platform) start(cmd *exec.Cmd, keepDetached bool) (*tree, error) {
	job, err := newJob(keepDetached)
	if err != nil {
		return nil, err
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{
		CreationFlags: windows.CREATE_SUSPENDED | windows.CREATE_NEW_PROCESS_GROUP,
		HideWindow:    true,
	}
	if err := cmd.Start(); err != nil {
		_ = windows.CloseHandle(job)
		return nil, err
	}
	pid := uint32(cmd.Process.Pid)
	err = assign(job, pid)
	if err == nil {
		err = resume(pid)
	}
	if err != nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
		_ = windows.CloseHandle(job)
		return nil, err
	}
	return &tree{job: job}, nil
}

func newJob(keepDetached bool) (windows.Handle, error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return 0, fmt.Errorf("creating a job object: %w", err)
	}
	var limits windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	limits.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	if keepDetached {
		limits.BasicLimitInformation.LimitFlags |= windows.JOB_OBJECT_LIMIT_BREAKAWAY_OK
	}
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&limits)), uint32(unsafe.Sizeof(limits)))
	if err != nil {
		_ = windows.CloseHandle(job)
		return 0, fmt.Errorf("limiting a job object: %w", err)
	}
	return job, nil
}

func assign(job windows.Handle, pid uint32) error {
	process, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, pid)
	if err != nil {
		return fmt.Errorf("opening process %d: %w", pid, err)
	}
	defer windows.CloseHandle(process)
	if err := windows.AssignProcessToJobObject(job, process); err != nil {
		return fmt.Errorf("assigning process %d to its job: %w", pid, err)
	}
	return nil
}

// resume resumes a suspended process. os/exec does not expose the handle of its only thread, so the thread is looked
// up.
func resume(pid uint32) error {
	snapshot, err := windows.CreateToolhelp32Snapshot(windows.TH32CS_SNAPTHREAD, 0)
	if err != nil {
		return fmt.Errorf("listing threads: %w", err)
	}
	defer windows.CloseHandle(snapshot)
	entry := windows.ThreadEntry32{Size: uint32(unsafe.Sizeof(windows.ThreadEntry32{}))}
	for err = windows.Thread32First(snapshot, &entry); err == nil; err = windows.Thread32Next(snapshot, &entry) {
		if entry.OwnerProcessID == pid {
			return resumeThread(entry.ThreadID)
		}
	}
	return fmt.Errorf("finding the thread of process %d: %w", pid, err)
}

func resumeThread(id uint32) error {
	thread, err := windows.OpenThread(windows.THREAD_SUSPEND_RESUME, false, id)
	if err != nil {
		return fmt.Errorf("opening thread %d: %w", id, err)
	}
	defer windows.CloseHandle(thread)
	if _, err := windows.ResumeThread(thread); err != nil {
		return fmt.Errorf("resuming thread %d: %w", id, err)
	}
	return nil
}

func (*tree) leaderExited() {}

// end ends the job. Windows has no signal that all programs understand, so that the only grace period was after the end
// of stdin.
func (t *tree) end(context.Context, time.Duration) error {
	defer windows.CloseHandle(t.job)
	if err := windows.TerminateJobObject(t.job, killedCode); err != nil {
		return fmt.Errorf("ending the job: %w", err)
	}
	deadline := time.Now().Add(killLimit)
	for {
		active, err := activeProcesses(t.job)
		if err != nil || active == 0 {
			return err
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%d processes of the job do not end", active)
		}
		time.Sleep(jobInterval)
	}
}

// jobAccounting is JOBOBJECT_BASIC_ACCOUNTING_INFORMATION.
type jobAccounting struct {
	times           [4]int64
	pageFaults      uint32
	totalProcesses  uint32
	activeProcesses uint32
	terminated      uint32
}

func activeProcesses(job windows.Handle) (uint32, error) {
	var info jobAccounting
	err := windows.QueryInformationJobObject(job, windows.JobObjectBasicAccountingInformation,
		uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)), nil)
	if err != nil {
		return 0, fmt.Errorf("looking into the job: %w", err)
	}
	return info.activeProcesses, nil
}

// enlargePipe does nothing: os.Pipe determines the size.
func enlargePipe(*os.File, int) {}

// readAvailable is never needed, because these pipes do not support deadlines.
func readAvailable(*os.File, []byte) (int, error) { return 0, io.EOF }

func signalName(sig syscall.Signal) string { return sig.String() }
