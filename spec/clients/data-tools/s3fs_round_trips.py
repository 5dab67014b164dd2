"""s3fs for Python, by itself and below pandas."""

import pandas
import s3fs
from checks import IS_TLS, MIB, ONE_AT_A_TIME, WHEN_REQUIRED, bucket, check, end, refused, settings

given = settings("s3fs")
store, storage_options = given["store"], given["storage_options"]
frame = pandas.DataFrame({"id": range(1000), "part": ["a", "b"] * 500})
there = "s3://" + bucket
frame.to_parquet(there + "/one.parquet", storage_options=storage_options)
check("Parquet", pandas.read_parquet(there + "/one.parquet", storage_options=storage_options).equals(frame), True)
frame.to_csv(there + "/csv/one.csv", index=False, storage_options=storage_options)
check("CSV", pandas.read_csv(there + "/csv/one.csv", storage_options=storage_options).equals(frame), True)
frame.to_parquet(there + "/set", partition_cols=["part"], storage_options=storage_options)
back = pandas.read_parquet(there + "/set", storage_options=storage_options, filters=[("part", "==", "a")])
check("partitions", len(back), 500)
with store.open(bucket + "/large", "wb", block_size=5 * MIB) as out:
    out.write(b"x" * 12 * MIB)
check("parts", store.size(bucket + "/large"), 12 * MIB)
check("a glob", store.glob(bucket + "/c*/*.csv"), [bucket + "/csv/one.csv"])
refused("rm of one key", lambda: store.rm(bucket + "/csv/one.csv"), ONE_AT_A_TIME)
refused("mv", lambda: store.mv(bucket + "/csv/one.csv", bucket + "/csv/two.csv"), ONE_AT_A_TIME)
store.invalidate_cache()
check("what mv left", store.ls(bucket + "/csv", detail=False), [bucket + "/csv/one.csv", bucket + "/csv/two.csv"])
store.rm_file(bucket + "/csv/one.csv")
check("rm_file", store.ls(bucket + "/csv", detail=False, refresh=True), [bucket + "/csv/two.csv"])
store.copy(bucket + "/large", bucket + "/copy")
check("a copy", store.size(bucket + "/copy"), 12 * MIB)
by_default = s3fs.S3FileSystem(**storage_options, config_kwargs={"request_checksum_calculation": "when_supported"})
put = lambda: by_default.pipe_file(bucket + "/default", b"x")
if IS_TLS:
    refused("by default", put, WHEN_REQUIRED)
else:
    put()
    check("by default", by_default.cat_file(bucket + "/default").decode(), "x")
end()
