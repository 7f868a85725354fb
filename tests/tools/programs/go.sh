# A Go program: static, threads, and its own system calls.
# needs go: package golang-go
# unshimmed: yes
# shellcheck shell=sh disable=SC2016,SC2164 # other shells expand; sh -e runs this

setup()
{
    cat >program.go <<'END'
package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
)

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// Shows a file and works beside it, or appends to it.
func main() {
	path := os.Args[len(os.Args)-1]
	if os.Args[1] == "append" {
		file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
		check(err)
		fmt.Fprintln(file, "more")
		check(file.Close())
		return
	}
	text, err := os.ReadFile(path)
	check(err)
	fmt.Print(string(text))
	check(os.MkdirAll("made/deep", 0755))
	var group sync.WaitGroup
	for i := 0; i < 8; i++ {
		group.Add(1)
		go func(i int) {
			defer group.Done()
			check(os.WriteFile(fmt.Sprintf("made/%d", i), []byte("x"), 0600))
		}(i)
	}
	group.Wait()
	check(os.Rename("made/1", "made/deep/one"))
	check(os.Symlink("deep", "made/link"))
	check(os.Chmod("made/2", 0640))
	check(os.Remove("made/3"))
	check(filepath.Walk("made", func(name string, info os.FileInfo, err error) error {
		fmt.Println(name, info.Mode())
		return err
	}))
	output, err := exec.Command("cat", path).Output()
	check(err)
	fmt.Print(string(output))
}
END
    CGO_ENABLED=0 GOFLAGS=-mod=mod GO111MODULE=off GOPROXY=off GOCACHE="$TMPDIR/go" go build -o program program.go
    echo input >input
}

inside()
{
    ./program show input
    ./program append input
    ./program show none || echo $?
}

outside()
{
    ./program show "$OUT/secret"
}

change()
{
    ./program append "$OUT/secret"
}
