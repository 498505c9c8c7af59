// Shows a Go program: `golang PORT SECONDS` listens on the loopback and keeps goroutines busy on several threads.
package main

import (
	"fmt"
	"net"
	"os"
	"runtime"
	"strconv"
	"time"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: golang PORT SECONDS")
		os.Exit(2)
	}
	seconds, _ := strconv.Atoi(os.Args[2])
	listener, err := net.Listen("tcp", "127.0.0.1:"+os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(3)
	}
	go func() {
		for {
			if _, err := listener.Accept(); err != nil {
				return
			}
		}
	}()
	for i := 0; i < 4; i++ {
		go func() {
			runtime.LockOSThread()
			time.Sleep(time.Hour)
		}()
	}
	fmt.Printf("cpus=%d\tprocs=%d\nready\n", runtime.NumCPU(), runtime.GOMAXPROCS(0))
	time.Sleep(time.Duration(seconds) * time.Second)
}
