// A log of somebody else, in Go: its tree and its checkpoints by golang.org/x/mod, what its witness says by torchwood.
//
//	other_log key                      prints the key of the log
//	other_log submit URL WITNESS-KEY   has a witness cosign three checkpoints, and verifies what it says
package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"

	"filippo.io/torchwood"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

const origin = "go.example/log"

// hashes of the tree, by the index that tlog gives them.
var hashes []tlog.Hash

func read(indexes []int64) ([]tlog.Hash, error) {
	found := make([]tlog.Hash, len(indexes))
	for at, index := range indexes {
		found[at] = hashes[index]
	}
	return found, nil
}

func check[T any](value T, err error) T {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return value
}

// submit sends a checkpoint of the first entries, and returns the status, and the checkpoint with the answer under it.
func submit(url string, signer note.Signer, old, size int64) (int, []byte) {
	root := check(tlog.TreeHash(size, tlog.HashReaderFunc(read)))
	text := torchwood.Checkpoint{Origin: origin, Tree: tlog.Tree{N: size, Hash: root}}.String()
	signed := check(note.Sign(&note.Note{Text: text}, signer))
	body := bytes.NewBufferString(fmt.Sprintf("old %d\n", old))
	if old > 0 {
		for _, hash := range check(tlog.ProveTree(size, old, tlog.HashReaderFunc(read))) {
			fmt.Fprintln(body, hash.String())
		}
	}
	fmt.Fprintf(body, "\n%s", signed)
	answer := check(http.Post(url+"/add-checkpoint", "text/plain", body))
	defer answer.Body.Close()
	lines := check(io.ReadAll(answer.Body))
	if answer.StatusCode != http.StatusOK {
		return answer.StatusCode, lines
	}
	return answer.StatusCode, append(signed, lines...)
}

func main() {
	secret, key, err := note.GenerateKey(bytes.NewReader(make([]byte, 64)), origin)
	check(0, err)
	if len(os.Args) == 2 && os.Args[1] == "key" {
		fmt.Println(key)
		return
	}
	if len(os.Args) != 4 || os.Args[1] != "submit" {
		check(0, errors.New("other_log key | submit URL WITNESS-KEY"))
	}
	signer := check(note.NewSigner(secret))
	witness := check(torchwood.NewCosignatureVerifier(os.Args[3]))
	for number := int64(0); number < 100; number++ {
		made := check(tlog.StoredHashes(number, fmt.Appendf(nil, "entry %d", number), tlog.HashReaderFunc(read)))
		hashes = append(hashes, made...)
	}
	for _, step := range [][2]int64{{0, 3}, {3, 64}, {64, 100}, {100, 100}} {
		status, cosigned := submit(os.Args[2], signer, step[0], step[1])
		if status != http.StatusOK {
			check(0, fmt.Errorf("from %d to %d: %d %s", step[0], step[1], status, cosigned))
		}
		opened := check(note.Open(cosigned, note.VerifierList(witness)))
		time := check(torchwood.CosignatureTimestamp(opened.Sigs[0]))
		fmt.Printf("cosigned %d at %d\n", step[1], time)
	}
	status, size := submit(os.Args[2], signer, 3, 64)
	fmt.Printf("conflict %d %s", status, size)
}
