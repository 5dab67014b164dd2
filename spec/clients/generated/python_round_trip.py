"""What a client from openapi-python-client does: creates, uploads, lists by pages, queries, is refused."""

import os
from io import BytesIO

from object_store_management_interface_client import AuthenticatedClient
from object_store_management_interface_client.api.audit import list_audit_events
from object_store_management_interface_client.api.buckets import (
    create_bucket,
    get_bucket,
    get_object_content,
    list_objects,
    put_object,
)
from object_store_management_interface_client.models import (
    CreateBucketRequest,
    Error,
    ErrorCode,
    ListAuditEventsOrder,
    ListObjectsAnswer,
)
from object_store_management_interface_client.types import UNSET, File

client = AuthenticatedClient(base_url=os.environ["OBJECT_STORE_URL"], token=os.environ["OBJECT_STORE_TOKEN"])
bucket = "made-by-python"
keys = ["a b/ä+&?.bin", "plain"]
content = bytes([0, 1, 2, 255])

created = create_bucket.sync(client=client, body=CreateBucketRequest(name=bucket))
assert created is not None and created.name == bucket, created

for key in keys:
    stored = put_object.sync(bucket, key, client=client, body=File(payload=BytesIO(content)))
    assert stored is not None and stored.key == key, stored

listed = []
after = UNSET
while True:
    page = list_objects.sync(bucket, client=client, limit=1, after=after)
    assert isinstance(page, ListObjectsAnswer), page
    listed += [(one.key, one.size) for one in page.objects]
    if page.next_after is None:
        break
    after = page.next_after
assert listed == [(key, len(content)) for key in keys], listed

got = get_object_content.sync(bucket, keys[0], client=client)
assert isinstance(got, File) and got.payload.read() == content, got

audit = list_audit_events.sync(client=client, bucket=bucket, order=ListAuditEventsOrder.DESC)
assert any(one.operation.startswith("PUT ") and one.result == "success" for one in audit.events), audit

refused = get_bucket.sync("no-such-bucket", client=client)
assert isinstance(refused, Error) and refused.error.code == ErrorCode.BUCKET_NOT_FOUND, refused
