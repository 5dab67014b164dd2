"""s3fs for Python, by itself and below pandas."""

import pandas
import s3fs
from checks import IS_TLS, MIB, ONE_AT_A_TIME, WHEN_REQUIRED, bucket, check, digest, end, extended, sample, settings

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
check("partitions", back["id"].to_list(), list(range(0, 1000, 2)))
data = sample(12 * MIB + 1)
with store.open(bucket + "/large", "wb", block_size=5 * MIB) as out:
    out.write(data)
check("parts", digest(store.cat_file(bucket + "/large")), digest(data))
check("a glob", store.glob(bucket + "/c*/*.csv"), [bucket + "/csv/one.csv"])


def listed(path):
    return [name.removeprefix(bucket) for name in store.ls(bucket + path, detail=False, refresh=True)]


def moved():
    store.mv(bucket + "/csv/one.csv", bucket + "/csv/two.csv")
    return listed("/csv")


def removed():
    store.rm(bucket + "/csv/two.csv")
    return store.exists(bucket + "/csv/two.csv")


def appended():
    with store.open(bucket + "/large", "ab") as out:
        out.write(b"more")
    return digest(store.cat_file(bucket + "/large"))


def emptied():
    store.rm(store.ls(bucket, detail=False, refresh=True), recursive=True)
    return listed("")


extended("mv", moved, ["/csv/two.csv"], ONE_AT_A_TIME)
check("what mv left", listed("/csv")[-1:], ["/csv/two.csv"])
extended("rm of one key", removed, False, ONE_AT_A_TIME)
store.pipe_file(bucket + "/csv/three.csv", b"x")
store.rm_file(bucket + "/csv/three.csv")
check("rm_file", "/csv/three.csv" in listed(""), False)
store.copy(bucket + "/large", bucket + "/copy")
check("a copy", digest(store.cat_file(bucket + "/copy")), digest(data))
extended("appending", appended, digest(data + b"more"), "UploadPartCopy is not supported")
by_default = s3fs.S3FileSystem(**storage_options, config_kwargs={"request_checksum_calculation": "when_supported"})


def put():
    by_default.pipe_file(bucket + "/default", b"x")
    return by_default.cat_file(bucket + "/default").decode()


if IS_TLS:
    extended("by default", put, "x", WHEN_REQUIRED)
else:
    check("by default", put(), "x")
extended("rm of everything", emptied, [], ONE_AT_A_TIME)
end()
