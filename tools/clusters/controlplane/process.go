package main

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// lock keeps a second control plane out of a folder. The file "pid" is locked as long as the process lives, so that
// whoever finds it unlocked knows that the process with this id is another one.
func lock(folder string) error {
	file, err := os.OpenFile(filepath.Join(folder, "pid"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	// Whoever looks whether the process lives has the lock for a moment.
	for attempt := range 20 {
		if err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err == nil {
			break
		}
		time.Sleep(time.Duration(attempt) * 5 * time.Millisecond)
	}
	if err != nil {
		return fmt.Errorf("a control plane is running in %s already", folder)
	}
	if err := file.Truncate(0); err != nil {
		return err
	}
	locked = file
	_, err = fmt.Fprintln(file, os.Getpid())
	return err
}

// The garbage collector would close the file, and with it end the lock.
var locked *os.File

// orphaned is closed once the process has another parent than this one; never for 0.
func orphaned(parent int) <-chan struct{} {
	gone := make(chan struct{})
	if parent != 0 {
		go func() {
			for os.Getppid() == parent {
				time.Sleep(200 * time.Millisecond)
			}
			close(gone)
		}()
	}
	return gone
}
