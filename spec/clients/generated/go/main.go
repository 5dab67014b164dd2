// What a client from oapi-codegen does: creates, uploads, lists by pages, queries, is refused.
package main

import (
	"bytes"
	"context"
	"log"
	"net/http"
	"os"
	"reflect"
	"strings"

	"example.com/generated/api"
)

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func main() {
	ctx := context.Background()
	token := "Bearer " + os.Getenv("OBJECT_STORE_TOKEN")
	client, err := api.NewClientWithResponses(os.Getenv("OBJECT_STORE_URL"), api.WithRequestEditorFn(
		func(_ context.Context, request *http.Request) error {
			request.Header.Set("Authorization", token)
			return nil
		}))
	must(err)
	bucket, keys, content := "made-by-go", []string{"a b/ä+&?.bin", "plain"}, []byte{0, 1, 2, 255}

	created, err := client.CreateBucketWithResponse(ctx, nil, api.CreateBucketRequest{Name: bucket})
	must(err)
	if created.JSON201 == nil || created.JSON201.Name != bucket {
		log.Fatalf("create: %s", created.Body)
	}

	for _, key := range keys {
		stored, err := client.PutObjectWithBodyWithResponse(
			ctx, bucket, key, nil, "application/octet-stream", bytes.NewReader(content))
		must(err)
		if stored.JSON201 == nil {
			log.Fatalf("put: %s", stored.Body)
		}
		version, err := stored.JSON201.AsObjectVersion()
		must(err)
		if version.Key != key || version.Size != int64(len(content)) {
			log.Fatalf("put: %s", stored.Body)
		}
	}

	listed, one := []string{}, int64(1)
	for after := (*string)(nil); ; {
		page, err := client.ListObjectsWithResponse(ctx, bucket, &api.ListObjectsParams{Limit: &one, After: after})
		must(err)
		if page.JSON200 == nil {
			log.Fatalf("list: %s", page.Body)
		}
		for _, object := range page.JSON200.Objects {
			listed = append(listed, object.Key)
		}
		if after = page.JSON200.NextAfter; after == nil {
			break
		}
	}
	if !reflect.DeepEqual(listed, keys) {
		log.Fatalf("listed %v", listed)
	}

	got, err := client.GetObjectContentWithResponse(ctx, bucket, keys[0], nil)
	must(err)
	if !bytes.Equal(got.Body, content) {
		log.Fatalf("got %v", got.Body)
	}

	order := api.ListAuditEventsParamsOrder("desc")
	audit, err := client.ListAuditEventsWithResponse(ctx, &api.ListAuditEventsParams{Bucket: &bucket, Order: &order})
	must(err)
	if audit.JSON200 == nil || !strings.HasPrefix(audit.JSON200.Events[0].Operation, "PUT ") {
		log.Fatalf("audit: %s", audit.Body)
	}

	refused, err := client.GetBucketWithResponse(ctx, "no-such-bucket", nil)
	must(err)
	if refused.JSON404 == nil || refused.JSON404.Error.Code != api.BUCKETNOTFOUND {
		log.Fatalf("refused: %s", refused.Body)
	}
}
