"""minio for Python."""

import io
import urllib.request

from checks import MIB, ONE_AT_A_TIME, bucket, check, digest, end, extended, sample, settings
from minio.commonconfig import ComposeSource, CopySource
from minio.deleteobjects import DeleteObject

store = settings("minio")["store"]
data = sample(12 * MIB + 1)


def names(**more):
    return [row.object_name for row in store.list_objects(bucket, **more)]


def read(key):
    return digest(store.get_object(bucket, key).read())


def composed():
    store.compose_object(bucket, "composed", [ComposeSource(bucket, "large"), ComposeSource(bucket, "one")])
    return read("composed")


def removed():
    errors = list(store.remove_objects(bucket, [DeleteObject("one"), DeleteObject("copy")]))
    if errors:
        raise RuntimeError(errors)
    return names()


store.put_object(bucket, "one", io.BytesIO(b"0123456789"), 10, metadata={"a": "b"})
check("metadata", store.stat_object(bucket, "one").metadata.get("x-amz-meta-a"), "b")
check("a range", store.get_object(bucket, "one", offset=4, length=3).read().decode(), "456")
store.put_object(bucket, "large", io.BytesIO(data), -1, part_size=5 * MIB)
check("parts", read("large"), digest(data))
store.copy_object(bucket, "copy", CopySource(bucket, "one"))
check("names", names(), ["copy", "large", "one"])
with urllib.request.urlopen(store.presigned_get_object(bucket, "copy")) as answer:
    check("a link", answer.read().decode(), "0123456789")
extended("V1", lambda: names(use_api_v1=True), ["copy", "large", "one"], "ListObjects is not supported")
extended("compose_object", composed, digest(data + b"0123456789"), "UploadPartCopy is not supported")
extended("remove_objects", removed, ["composed", "large"], ONE_AT_A_TIME)
for name in names():
    store.remove_object(bucket, name)
check("removed", names(), [])
end()
