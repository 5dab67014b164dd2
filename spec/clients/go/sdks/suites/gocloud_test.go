// Package suites runs acceptance suites of others, as they are.
package suites

import (
	"context"
	"net/http"
	"os"
	"reflect"
	"testing"
	"unsafe"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"gocloud.dev/blob"
	"gocloud.dev/blob/driver"
	"gocloud.dev/blob/drivertest"
	"gocloud.dev/blob/s3blob"
)

type harness struct{ client *s3.Client }

// open is the driver inside of a bucket: s3blob shows it to its own tests only.
func (h harness) open(ctx context.Context, name string) (driver.Bucket, error) {
	bucket, err := s3blob.OpenBucketV2(ctx, h.client, name, nil)
	if err != nil {
		return nil, err
	}
	field := reflect.ValueOf((*blob.Bucket)(bucket)).Elem().FieldByName("b")
	return *(*driver.Bucket)(unsafe.Pointer(field.UnsafeAddr())), nil
}

func (h harness) MakeDriver(ctx context.Context) (driver.Bucket, error) {
	return h.open(ctx, os.Getenv("SUITE_BUCKET"))
}

func (h harness) MakeDriverForNonexistentBucket(ctx context.Context) (driver.Bucket, error) {
	return h.open(ctx, "no-such-bucket")
}

func (harness) HTTPClient() *http.Client         { return &http.Client{} }
func (harness) SupportsCopy() bool               { return true }
func (harness) SupportsNonSlashDelimiters() bool { return true }
func (harness) Close()                           {}

// TestGocloud is the conformance suite for drivers of gocloud.dev/blob, with s3blob on the AWS SDK.
func TestGocloud(t *testing.T) {
	drivertest.RunConformanceTests(t, func(ctx context.Context, t *testing.T) (drivertest.Harness, error) {
		settings, err := config.LoadDefaultConfig(ctx, config.WithRegion("us-east-1"))
		if err != nil {
			return nil, err
		}
		client := s3.NewFromConfig(settings, func(o *s3.Options) {
			o.BaseEndpoint, o.UsePathStyle = aws.String(os.Getenv("SUITE_ENDPOINT")), true
		})
		return harness{client}, nil
	}, nil)
}
