"""tensorstore: an array in chunks on its own client of S3."""

import os

from checks import IS_TLS, access_key, bucket, check, digest, end, endpoint, secret_key

os.environ.update({"AWS_ACCESS_KEY_ID": access_key, "AWS_SECRET_ACCESS_KEY": secret_key})
if IS_TLS:
    os.environ["TENSORSTORE_CA_BUNDLE"] = os.environ["SSL_CERT_FILE"]
import numpy
import tensorstore

store = {
    "driver": "s3",
    "bucket": bucket,
    "endpoint": endpoint,
    "aws_region": "us-east-1",
    "path": "array/",
    "aws_credentials": {"type": "environment"},
}
data = numpy.arange(1_000_000, dtype="i4").reshape(1000, 1000)
spec = {"driver": "zarr3", "kvstore": store}
chunks = tensorstore.ChunkLayout(chunk_shape=[100, 100])
array = tensorstore.open(spec, create=True, dtype="int32", shape=data.shape, chunk_layout=chunks).result()
array.write(data).result()
again = tensorstore.open(spec, open=True).result()
check("chunks", digest(again.read().result().tobytes()), digest(data.tobytes()))
again[5, 5].write(-1).result()
check("one of them", [int(again[5, 5].read().result()), int(again[5, 6].read().result())], [-1, 5006])
keys = tensorstore.KvStore.open(store).result()
check("names", len(keys.list().result()), 101)
keys.write("plain", b"bytes").result()
check("a key", keys.read("plain").result().value.decode(), "bytes")
keys.delete_range(tensorstore.KvStore.KeyRange()).result()
check("deleted", len(keys.list().result()), 0)
end()
