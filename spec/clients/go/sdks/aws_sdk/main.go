// The AWS SDK for Go 2 with its defaults: objects, parts by the manager, copies of parts, batches, links, conditions, tags.
package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/feature/s3/manager"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"object-store.example/sdks/checks"
)

var (
	ctx    = context.Background()
	bucket = aws.String(checks.Bucket)
	data   = checks.Sample(12*checks.MiB + 1)
	client = open()
)

func open(options ...func(*s3.Options)) *s3.Client {
	keys := credentials.NewStaticCredentialsProvider(checks.AccessKey, checks.SecretKey, "")
	settings, err := config.LoadDefaultConfig(ctx, config.WithRegion("us-east-1"), config.WithCredentialsProvider(keys))
	if err != nil {
		panic(err)
	}
	return s3.NewFromConfig(settings, append([]func(*s3.Options){func(o *s3.Options) {
		o.BaseEndpoint, o.UsePathStyle = aws.String(checks.Endpoint), true
	}}, options...)...)
}

func put(with *s3.Client, key string, body io.Reader) (any, error) {
	_, err := with.PutObject(ctx, &s3.PutObjectInput{Bucket: bucket, Key: aws.String(key), Body: body})
	return "done", err
}

func get(key string) (any, error) {
	answer, err := client.GetObject(ctx, &s3.GetObjectInput{Bucket: bucket, Key: aws.String(key)})
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	return checks.Digest(body), err
}

func fetch(method, url string, body []byte) (any, error) {
	request, err := http.NewRequest(method, url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	read, err := io.ReadAll(answer.Body)
	if answer.StatusCode != 200 {
		return answer.Status, err
	}
	return checks.Digest(read), err
}

func keys() (any, error) {
	names := []string{}
	pages := s3.NewListObjectsV2Paginator(client, &s3.ListObjectsV2Input{Bucket: bucket, MaxKeys: aws.Int32(2)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, object := range page.Contents {
			names = append(names, *object.Key)
		}
	}
	return strings.Join(names, " "), nil
}

func main() {
	all := checks.Extended
	overHTTP := all || !checks.IsTLS
	advice := "s3.profile=compatible"
	checks.Where(overHTTP, "put by default", func() (any, error) { return put(client, "one", strings.NewReader("bytes")) }, "done", advice)
	plain := open(func(o *s3.Options) { o.RequestChecksumCalculation = aws.RequestChecksumCalculationWhenRequired })
	checks.Works("put when required", func() (any, error) { return put(plain, "one", strings.NewReader("bytes")) }, "done")
	checks.Works("get", func() (any, error) { return get("one") }, checks.Digest([]byte("bytes")))
	upload := func(with *s3.Client, options ...func(*manager.Uploader)) (any, error) {
		_, err := manager.NewUploader(with, options...).Upload(ctx, &s3.PutObjectInput{Bucket: bucket, Key: aws.String("large"), Body: io.MultiReader(bytes.NewReader(data))})
		if err != nil {
			return nil, err
		}
		return get("large")
	}
	checks.Where(overHTTP, "the manager by default", func() (any, error) { return upload(client) }, checks.Digest(data), advice)
	// The client alone does not do: the manager has an option of its own.
	checks.Works("the manager when required", func() (any, error) {
		return upload(plain, func(u *manager.Uploader) { u.RequestChecksumCalculation = aws.RequestChecksumCalculationWhenRequired })
	}, checks.Digest(data))
	checks.Works("downloaded in parts", func() (any, error) {
		buffer := manager.NewWriteAtBuffer(nil)
		_, err := manager.NewDownloader(client).Download(ctx, buffer, &s3.GetObjectInput{Bucket: bucket, Key: aws.String("large")})
		return checks.Digest(buffer.Bytes()), err
	}, checks.Digest(data))
	checks.Where(overHTTP, "with a checksum of its own", func() (any, error) {
		_, err := plain.PutObject(ctx, &s3.PutObjectInput{Bucket: bucket, Key: aws.String("sha"), Body: bytes.NewReader(data), ChecksumAlgorithm: types.ChecksumAlgorithmSha256})
		if err != nil {
			return nil, err
		}
		return get("sha")
	}, checks.Digest(data), advice)
	checks.Works("a range", func() (any, error) {
		answer, err := client.GetObject(ctx, &s3.GetObjectInput{Bucket: bucket, Key: aws.String("large"), Range: aws.String("bytes=8388600-8388615")})
		if err != nil {
			return nil, err
		}
		body, err := io.ReadAll(answer.Body)
		return checks.Digest(body), err
	}, checks.Digest(data[8388600:8388616]))
	checks.Refused("created once", func() (any, error) {
		return plain.PutObject(ctx, &s3.PutObjectInput{Bucket: bucket, Key: aws.String("one"), Body: strings.NewReader("x"), IfNoneMatch: aws.String("*")})
	}, "PreconditionFailed")
	checks.Works("a copy", func() (any, error) {
		if _, err := client.CopyObject(ctx, &s3.CopyObjectInput{Bucket: bucket, Key: aws.String("copy"), CopySource: aws.String(checks.Bucket + "/large")}); err != nil {
			return nil, err
		}
		return get("copy")
	}, checks.Digest(data))
	checks.Where(all, "a copy of a part", copyOfPart, checks.Digest(data), "UploadPartCopy is not supported")
	signer := s3.NewPresignClient(client)
	checks.Works("a link to read", func() (any, error) {
		link, err := signer.PresignGetObject(ctx, &s3.GetObjectInput{Bucket: bucket, Key: aws.String("one")})
		if err != nil {
			return nil, err
		}
		return fetch("GET", link.URL, nil)
	}, checks.Digest([]byte("bytes")))
	checks.Works("a link to write", func() (any, error) {
		link, err := s3.NewPresignClient(plain).PresignPutObject(ctx, &s3.PutObjectInput{Bucket: bucket, Key: aws.String("linked")})
		if err != nil {
			return nil, err
		}
		if _, err := fetch("PUT", link.URL, []byte("linked")); err != nil {
			return nil, err
		}
		return get("linked")
	}, checks.Digest([]byte("linked")))
	checks.Where(all, "tags", func() (any, error) {
		tags := []types.Tag{{Key: aws.String("a"), Value: aws.String("b c")}}
		if _, err := client.PutObjectTagging(ctx, &s3.PutObjectTaggingInput{Bucket: bucket, Key: aws.String("one"), Tagging: &types.Tagging{TagSet: tags}}); err != nil {
			return nil, err
		}
		answer, err := client.GetObjectTagging(ctx, &s3.GetObjectTaggingInput{Bucket: bucket, Key: aws.String("one")})
		if err != nil {
			return nil, err
		}
		return *answer.TagSet[0].Key + "=" + *answer.TagSet[0].Value, nil
	}, "a=b c", "tag")
	checks.Where(all, "lifecycle", func() (any, error) {
		rule := types.LifecycleRule{ID: aws.String("r"), Status: types.ExpirationStatusEnabled, Filter: &types.LifecycleRuleFilter{Prefix: aws.String("old/")}, Expiration: &types.LifecycleExpiration{Days: aws.Int32(3)}}
		input := &s3.PutBucketLifecycleConfigurationInput{Bucket: bucket, LifecycleConfiguration: &types.BucketLifecycleConfiguration{Rules: []types.LifecycleRule{rule}}}
		if _, err := client.PutBucketLifecycleConfiguration(ctx, input); err != nil {
			return nil, err
		}
		answer, err := client.GetBucketLifecycleConfiguration(ctx, &s3.GetBucketLifecycleConfigurationInput{Bucket: bucket})
		if err != nil {
			return nil, err
		}
		return *answer.Rules[0].Expiration.Days, nil
	}, 3, "NotImplemented")
	names := "copy large linked one"
	if overHTTP {
		names += " sha"
	}
	if all {
		names = "copy large linked one part sha"
	}
	checks.Works("keys", keys, names)
	checks.Where(all, "a batch deleted", func() (any, error) {
		objects := []types.ObjectIdentifier{}
		for _, name := range strings.Fields(names) {
			objects = append(objects, types.ObjectIdentifier{Key: aws.String(name)})
		}
		if _, err := client.DeleteObjects(ctx, &s3.DeleteObjectsInput{Bucket: bucket, Delete: &types.Delete{Objects: objects}}); err != nil {
			return nil, err
		}
		return keys()
	}, "", "DeleteObjects is not supported")
	checks.End()
}

func copyOfPart() (any, error) {
	key := aws.String("part")
	upload, err := client.CreateMultipartUpload(ctx, &s3.CreateMultipartUploadInput{Bucket: bucket, Key: key})
	if err != nil {
		return nil, err
	}
	part, err := client.UploadPartCopy(ctx, &s3.UploadPartCopyInput{Bucket: bucket, Key: key, UploadId: upload.UploadId, PartNumber: aws.Int32(1), CopySource: aws.String(checks.Bucket + "/large")})
	if err != nil {
		_, _ = client.AbortMultipartUpload(ctx, &s3.AbortMultipartUploadInput{Bucket: bucket, Key: key, UploadId: upload.UploadId})
		return nil, err
	}
	parts := []types.CompletedPart{{PartNumber: aws.Int32(1), ETag: part.CopyPartResult.ETag, ChecksumCRC32: part.CopyPartResult.ChecksumCRC32}}
	_, err = client.CompleteMultipartUpload(ctx, &s3.CompleteMultipartUploadInput{Bucket: bucket, Key: key, UploadId: upload.UploadId, MultipartUpload: &types.CompletedMultipartUpload{Parts: parts}})
	if err != nil {
		return nil, err
	}
	return get("part")
}
