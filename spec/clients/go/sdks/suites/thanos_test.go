package suites

import (
	"testing"

	"github.com/thanos-io/objstore"
	"github.com/thanos-io/objstore/providers/s3"
)

// TestThanos is the acceptance suite of the library below Thanos, Mimir, Cortex and Loki, on a bucket that it makes and removes.
func TestThanos(t *testing.T) {
	bucket, remove, err := s3.NewTestBucket(t, "us-east-1")
	if err != nil {
		t.Fatal(err)
	}
	defer remove()
	objstore.AcceptanceTest(t, bucket)
}
