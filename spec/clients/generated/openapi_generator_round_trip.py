"""What a client from openapi-generator (python) does: creates, uploads, lists by pages, queries, is refused."""

import json
import os

import openapi_client
from openapi_client import CreateBucketRequest

configuration = openapi_client.Configuration(
    host=os.environ["OBJECT_STORE_URL"], access_token=os.environ["OBJECT_STORE_TOKEN"]
)
bucket = "made-by-openapi-generator"
keys = ["a b/ä+&?.bin", "plain"]
content = bytes([0, 1, 2, 255])

with openapi_client.ApiClient(configuration) as client:
    buckets = openapi_client.BucketsApi(client)
    created = buckets.create_bucket(CreateBucketRequest(name=bucket))
    assert created.name == bucket, created

    for key in keys:
        stored = buckets.put_object(bucket, key, content).actual_instance
        assert stored.key == key and stored.size == len(content), stored

    listed = []
    after = None
    while True:
        page = buckets.list_objects(bucket, limit=1, after=after)
        listed += [one.key for one in page.objects]
        if page.next_after is None:
            break
        after = page.next_after
    assert listed == keys, listed

    assert bytes(buckets.get_object_content(bucket, keys[0])) == content

    audit = openapi_client.AuditApi(client).list_audit_events(bucket=bucket, order="desc")
    assert any(one.operation.startswith("PUT ") and one.result == "success" for one in audit.events), audit

    try:
        buckets.get_bucket("no-such-bucket")
        raise AssertionError("no refusal")
    except openapi_client.exceptions.NotFoundException as refused:
        assert refused.data.error.code == "BUCKET_NOT_FOUND", refused
