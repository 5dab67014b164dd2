"""obstore: the object_store of Rust, with conditions, parts and deletions one by one or in batches."""

import obstore
from checks import EXTENDED, MIB, ONE_AT_A_TIME, access_key, bucket, check, digest, end, endpoint, extended, refused
from checks import sample, secret_key, settings
from obstore.store import S3Store

store = settings("obstore")["store"]


def names():
    return sorted(row["path"] for page in obstore.list(store) for row in page)


obstore.put(store, "one", b"0123456789")
check("a range", bytes(obstore.get_range(store, "one", start=4, end=7)).decode(), "456")
refused("created once", lambda: obstore.put(store, "one", b"x", mode="create"), "PreconditionFailed")
etag = obstore.head(store, "one")["e_tag"]
obstore.put(store, "one", b"next", mode={"e_tag": etag})
refused("an update of an old state", lambda: obstore.put(store, "one", b"x", mode={"e_tag": etag}), "412")
data = sample(12 * MIB + 1)
obstore.put(store, "a/large", data, use_multipart=True)
check("parts", digest(obstore.get(store, "a/large").bytes()), digest(data))
obstore.copy(store, "one", "a/copy")
obstore.rename(store, "a/copy", "a/renamed")
check("names", names(), ["a/large", "a/renamed", "one"])
# More than one request may name.
more = ["many/%04d" % index for index in range(1001)] if EXTENDED else []
for name in more:
    obstore.put(store, name, b"")
obstore.delete(store, ["a/large", "a/renamed", "one"] + more)
check("deleted", names(), [])
obstore.put(store, "one", b"x")
batches = S3Store(
    bucket,
    endpoint=endpoint,
    access_key_id=access_key,
    secret_access_key=secret_key,
    region="us-east-1",
    client_options={"allow_http": True},
    retry_config={"max_retries": 0},
)


def by_default():
    obstore.delete(batches, "one")
    return names()


extended("by default", by_default, [], ONE_AT_A_TIME, "disable_bulk_delete=true (obstore)")
end()
