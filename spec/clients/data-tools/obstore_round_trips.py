"""obstore: the object_store of Rust, with conditions, parts and deletions one by one."""

import obstore
from checks import MIB, ONE_AT_A_TIME, access_key, bucket, check, end, endpoint, refused, secret_key, settings
from obstore.store import S3Store

store = settings("obstore")["store"]
obstore.put(store, "one", b"0123456789")
check("a range", bytes(obstore.get_range(store, "one", start=4, end=7)).decode(), "456")
refused("created once", lambda: obstore.put(store, "one", b"x", mode="create"), "PreconditionFailed")
etag = obstore.head(store, "one")["e_tag"]
obstore.put(store, "one", b"next", mode={"e_tag": etag})
refused("an update of an old state", lambda: obstore.put(store, "one", b"x", mode={"e_tag": etag}), "412")
obstore.put(store, "a/large", b"x" * 12 * MIB, use_multipart=True)
check("parts", obstore.head(store, "a/large")["size"], 12 * MIB)
obstore.copy(store, "one", "a/copy")
obstore.rename(store, "a/copy", "a/renamed")
names = [row["path"] for page in obstore.list(store) for row in page]
check("names", sorted(names), ["a/large", "a/renamed", "one"])
obstore.delete(store, ["a/large", "a/renamed", "one"])
check("deleted", [row for page in obstore.list(store) for row in page], [])
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
refused("by default", lambda: obstore.delete(batches, "one"), ONE_AT_A_TIME, "disable_bulk_delete=true (obstore)")
end()
