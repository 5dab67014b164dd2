// minio-go with its defaults: objects, parts, composition, batches, links, tags, rules and the stream of events.
package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
	"github.com/minio/minio-go/v7/pkg/lifecycle"
	"github.com/minio/minio-go/v7/pkg/tags"
	"object-store.example/sdks/checks"
)

var (
	ctx    = context.Background()
	bucket = checks.Bucket
	data   = checks.Sample(20*checks.MiB + 1)
	client = open()
)

// trusting is the transport of a program that trusts the authority of the server; minio-go has its own otherwise.
func trusting() http.RoundTripper {
	transport, err := minio.DefaultTransport(checks.IsTLS)
	if err != nil {
		panic(err)
	}
	if file := os.Getenv("SSL_CERT_FILE"); file != "" {
		pool := x509.NewCertPool()
		text, err := os.ReadFile(file)
		if err != nil || !pool.AppendCertsFromPEM(text) {
			panic("no certificate in " + file)
		}
		transport.TLSClientConfig = &tls.Config{RootCAs: pool}
	}
	return transport
}

func open() *minio.Client {
	address, err := url.Parse(checks.Endpoint)
	if err != nil {
		panic(err)
	}
	keys := credentials.NewStaticV4(checks.AccessKey, checks.SecretKey, "")
	client, err := minio.New(address.Host, &minio.Options{Creds: keys, Secure: checks.IsTLS, Transport: trusting()})
	if err != nil {
		panic(err)
	}
	return client
}

func put(key string, body []byte, options minio.PutObjectOptions) (any, error) {
	_, err := client.PutObject(ctx, bucket, key, bytes.NewReader(body), int64(len(body)), options)
	if err != nil {
		return nil, err
	}
	return get(key)
}

func get(key string) (any, error) {
	object, err := client.GetObject(ctx, bucket, key, minio.GetObjectOptions{})
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(object)
	return checks.Digest(body), err
}

func keys() (any, error) {
	names := []string{}
	for object := range client.ListObjects(ctx, bucket, minio.ListObjectsOptions{Recursive: true}) {
		if object.Err != nil {
			return nil, object.Err
		}
		names = append(names, object.Key)
	}
	return strings.Join(names, " "), nil
}

func main() {
	all := checks.Extended
	byDefault := all || checks.IsTLS
	none := minio.PutObjectOptions{}
	small := []byte("bytes")
	checks.Where(byDefault, "put by default", func() (any, error) { return put("one", small, none) }, checks.Digest(small), "aws-chunked")
	unsigned := minio.PutObjectOptions{DisableContentSha256: true}
	checks.Works("put unsigned", func() (any, error) { return put("one", small, unsigned) }, checks.Digest(small))
	checks.Where(byDefault, "parts by default", func() (any, error) { return put("large", data, none) }, checks.Digest(data), "aws-chunked")
	checks.Works("parts unsigned", func() (any, error) { return put("large", data, unsigned) }, checks.Digest(data))
	checks.Works("a copy", func() (any, error) {
		if _, err := client.CopyObject(ctx, minio.CopyDestOptions{Bucket: bucket, Object: "copy"}, minio.CopySrcOptions{Bucket: bucket, Object: "large"}); err != nil {
			return nil, err
		}
		return get("copy")
	}, checks.Digest(data))
	checks.Where(all, "composed", func() (any, error) {
		source := minio.CopySrcOptions{Bucket: bucket, Object: "large"}
		if _, err := client.ComposeObject(ctx, minio.CopyDestOptions{Bucket: bucket, Object: "composed"}, source, source); err != nil {
			return nil, err
		}
		return get("composed")
	}, checks.Digest(append(append([]byte{}, data...), data...)), "not supported")
	checks.Works("a link", func() (any, error) {
		link, err := client.PresignedGetObject(ctx, bucket, "one", time.Minute, nil)
		if err != nil {
			return nil, err
		}
		answer, err := (&http.Client{Transport: trusting()}).Get(link.String())
		if err != nil {
			return nil, err
		}
		body, err := io.ReadAll(answer.Body)
		return string(body), err
	}, "bytes")
	checks.Where(all, "tags", func() (any, error) {
		set, err := tags.MapToObjectTags(map[string]string{"a": "b c"})
		if err != nil {
			return nil, err
		}
		if err := client.PutObjectTagging(ctx, bucket, "one", set, minio.PutObjectTaggingOptions{}); err != nil {
			return nil, err
		}
		read, err := client.GetObjectTagging(ctx, bucket, "one", minio.GetObjectTaggingOptions{})
		if err != nil {
			return nil, err
		}
		return read.ToMap()["a"], nil
	}, "b c", "not supported")
	checks.Where(all, "lifecycle", func() (any, error) {
		rules := lifecycle.NewConfiguration()
		rules.Rules = []lifecycle.Rule{{ID: "r", Status: "Enabled", RuleFilter: lifecycle.Filter{Prefix: "old/"}, Expiration: lifecycle.Expiration{Days: 3}}}
		if err := client.SetBucketLifecycle(ctx, bucket, rules); err != nil {
			return nil, err
		}
		read, err := client.GetBucketLifecycle(ctx, bucket)
		if err != nil {
			return nil, err
		}
		return int(read.Rules[0].Expiration.Days), nil
	}, 3, "not supported")
	checks.Where(all, "events", events, "s3:ObjectCreated:Put event", "not supported")
	names := "copy large one"
	if all {
		names = "composed copy event large one"
	}
	checks.Works("keys", keys, names)
	checks.Where(all, "a batch removed", func() (any, error) {
		objects := make(chan minio.ObjectInfo, 10)
		for _, name := range strings.Fields(names) {
			objects <- minio.ObjectInfo{Key: name}
		}
		close(objects)
		for failed := range client.RemoveObjects(ctx, bucket, objects, minio.RemoveObjectsOptions{}) {
			return nil, failed.Err
		}
		return keys()
	}, "", "DeleteObjects is not supported")
	checks.End()
}

// events writes until the stream, which begins when it likes, has told of it.
func events() (any, error) {
	listening, stop := context.WithCancel(ctx)
	defer stop()
	told := client.ListenBucketNotification(listening, bucket, "", "", []string{"s3:ObjectCreated:*", "s3:ObjectRemoved:*"})
	for {
		select {
		case info := <-told:
			if info.Err != nil {
				return nil, info.Err
			}
			if len(info.Records) > 0 {
				return info.Records[0].EventName + " " + info.Records[0].S3.Object.Key, nil
			}
		case <-time.After(100 * time.Millisecond):
			if _, err := client.PutObject(ctx, bucket, "event", strings.NewReader("x"), 1, minio.PutObjectOptions{}); err != nil && checks.Extended {
				return nil, err
			}
		}
	}
}
