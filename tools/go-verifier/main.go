// Checks a checkpoint, an inclusion proof and a consistency proof of ours with Go's own transparency log packages.
//
//	go-verifier VKEY CHECKPOINT LEAF INDEX INCLUSION OLD_CHECKPOINT CONSISTENCY
//
// Proof files have one hash a line, base64. Exit code 1, with a reason, when anything is refused.
package main

import (
	"encoding/base64"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

func fail(what string, err error) {
	if err != nil {
		fmt.Println(what+":", err)
		os.Exit(1)
	}
}

func read(path string) []byte {
	data, err := os.ReadFile(path)
	fail("read", err)
	return data
}

func hashes(path string) []tlog.Hash {
	var found []tlog.Hash
	for _, line := range strings.Fields(string(read(path))) {
		data, err := base64.StdEncoding.DecodeString(line)
		fail("base64", err)
		var hash tlog.Hash
		copy(hash[:], data)
		found = append(found, hash)
	}
	return found
}

func checkpoint(path string, key note.Verifier) (int64, tlog.Hash) {
	signed, err := note.Open(read(path), note.VerifierList(key))
	fail("note", err)
	lines := strings.Split(signed.Text, "\n")
	if lines[0] != key.Name() {
		fail("note", fmt.Errorf("the log is called %q", lines[0]))
	}
	size, err := strconv.ParseInt(lines[1], 10, 64)
	fail("size", err)
	root, err := base64.StdEncoding.DecodeString(lines[2])
	fail("root", err)
	var hash tlog.Hash
	copy(hash[:], root)
	return size, hash
}

func main() {
	args := os.Args[1:]
	key, err := note.NewVerifier(strings.TrimSpace(string(read(args[0]))))
	fail("key", err)
	size, root := checkpoint(args[1], key)
	index, err := strconv.ParseInt(args[3], 10, 64)
	fail("index", err)
	fail("inclusion", tlog.CheckRecord(hashes(args[4]), size, root, index, tlog.RecordHash(read(args[2]))))
	oldSize, oldRoot := checkpoint(args[5], key)
	fail("consistency", tlog.CheckTree(hashes(args[6]), size, root, oldSize, oldRoot))
}
