// Package checks prints what round trips looked at, one JSON object a line, as data-tools/checks.py does.
package checks

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"strings"
)

// The arguments of every round trip.
var (
	Endpoint, AccessKey, SecretKey, Bucket = os.Args[1], os.Args[2], os.Args[3], os.Args[4]
	IsTLS                                  = strings.HasPrefix(Endpoint, "https:")
	Extended                               = os.Args[5] == "extended"
)

// MiB is a mebibyte in bytes.
const MiB = 1 << 20

// Check prints a result beside what it should be.
func Check(name string, got, expected any) {
	line, _ := json.Marshal(struct {
		Name     string `json:"name"`
		Got      any    `json:"got"`
		Expected any    `json:"expected"`
	}{name, got, expected})
	os.Stdout.Write(append(line, '\n'))
}

// Works prints what a call returned, or its error.
func Works(name string, call func() (any, error), expected any) {
	got, err := call()
	if err != nil {
		got = err.Error()
	}
	Check(name, got, expected)
}

// Refused is what must fail, with this word in what it says.
func Refused(name string, call func() (any, error), word string) {
	_, err := call()
	switch {
	case err == nil:
		Check(name, "no error", word)
	case strings.Contains(err.Error(), word):
		Check(name, word, word)
	default:
		Check(name, err.Error(), word)
	}
}

// Where is a call that works where `works` says so, and is refused elsewhere.
func Where(works bool, name string, call func() (any, error), expected any, word string) {
	if works {
		Works(name, call, expected)
	} else {
		Refused(name, call, word)
	}
}

// Sample is bytes of which no two runs of eight are the same.
func Sample(count int) []byte {
	data := make([]byte, count+8)
	for index := 0; index < count; index += 8 {
		for byteOf := 0; byteOf < 8; byteOf++ {
			data[index+byteOf] = byte(index >> (8 * byteOf))
		}
	}
	return data[:count]
}

// Digest is the SHA-256 in hex.
func Digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// End is the last line: a program without it broke off.
func End() { Check("end", true, true) }
