"""minio for Python."""

import io
import urllib.request

from checks import MIB, ONE_AT_A_TIME, bucket, check, end, refused, settings
from minio.commonconfig import ComposeSource, CopySource
from minio.deleteobjects import DeleteObject

store = settings("minio")["store"]
store.put_object(bucket, "one", io.BytesIO(b"0123456789"), 10, metadata={"a": "b"})
check("metadata", store.stat_object(bucket, "one").metadata.get("x-amz-meta-a"), "b")
check("a range", store.get_object(bucket, "one", offset=4, length=3).read().decode(), "456")
store.put_object(bucket, "large", io.BytesIO(b"x" * 12 * MIB), -1, part_size=5 * MIB)
check("parts", store.stat_object(bucket, "large").size, 12 * MIB)
store.copy_object(bucket, "copy", CopySource(bucket, "one"))
check("names", [row.object_name for row in store.list_objects(bucket)], ["copy", "large", "one"])
with urllib.request.urlopen(store.presigned_get_object(bucket, "copy")) as answer:
    check("a link", answer.read().decode(), "0123456789")
batch = lambda: list(store.remove_objects(bucket, [DeleteObject("one")]))
refused("remove_objects", batch, ONE_AT_A_TIME)
both = [ComposeSource(bucket, "large"), ComposeSource(bucket, "one")]
refused("compose_object", lambda: store.compose_object(bucket, "c", both), "UploadPartCopy is not supported")
refused("V1", lambda: list(store.list_objects(bucket, use_api_v1=True)), "ListObjects is not supported")
for row in store.list_objects(bucket):
    store.remove_object(bucket, row.object_name)
check("removed", list(store.list_objects(bucket)), [])
end()
