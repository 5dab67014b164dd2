"""pyarrow: its own file system, and Parquet through it."""

import subprocess
import sys

from checks import EXTENDED, MIB, ONE_AT_A_TIME, WHEN_REQUIRED
from checks import access_key, bucket, check, digest, end, endpoint, extended, sample, secret_key, settings

# In a process of its own, without the variable: it is read once.
BY_DEFAULT = """
import sys
from pyarrow import fs
store = fs.S3FileSystem(endpoint_override=%r, access_key=%r, secret_key=%r, region="us-east-1")
with store.open_output_stream(%r) as out:
    out.write(b"x")
"""


def by_default():
    script = BY_DEFAULT % (endpoint, access_key, secret_key, bucket + "/default")
    done = subprocess.run([sys.executable, "-c", script], stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise RuntimeError(done.stderr)


extended("by default", by_default, None, WHEN_REQUIRED)
store = settings("pyarrow")["store"]
from pyarrow import fs, table
from pyarrow import parquet
import pyarrow.dataset as dataset

rows = table({"id": list(range(1000)), "part": ["a", "b"] * 500})
data = sample(12 * MIB + 1)


def read(path):
    with store.open_input_file(bucket + path) as back:
        return digest(back.read())


def names(path):
    return sorted(info.base_name for info in store.get_file_info(fs.FileSelector(bucket + path)))


def write_set(given, **more):
    dataset.write_dataset(given, bucket + "/set", filesystem=store, format="parquet", partitioning=["part"], **more)


def read_set(part):
    back = dataset.dataset(bucket + "/set", filesystem=store, partitioning=["part"])
    return back.to_table(filter=dataset.field("part") == part)["id"].to_pylist()


def overwritten():
    write_set(rows.slice(0, 10), basename_template="next-{i}.parquet", existing_data_behavior="delete_matching")
    return read_set("a")


def without_set():
    store.delete_dir(bucket + "/set")
    return names("")


def emptied():
    store.delete_dir_contents(bucket)
    return names("")


with store.open_output_stream(bucket + "/text") as out:
    out.write(b"0123456789")
with store.open_input_file(bucket + "/text") as back:
    back.seek(4)
    check("a range", back.read(3).decode(), "456")
parquet.write_table(rows, bucket + "/one.parquet", filesystem=store)
check("Parquet", parquet.read_table(bucket + "/one.parquet", filesystem=store).equals(rows), True)
write_set(rows)
check("partitions", read_set("a"), list(range(0, 1000, 2)))
with store.open_output_stream(bucket + "/large") as out:
    for index in range(13):
        out.write(data[index * MIB : (index + 1) * MIB])
check("parts", read("/large"), digest(data))
store.copy_file(bucket + "/text", bucket + "/copy")
store.move(bucket + "/copy", bucket + "/moved")
there = ["default"] * EXTENDED + ["large", "moved", "one.parquet", "set", "text"]
check("names", names(""), there)
store.delete_file(bucket + "/moved")
there.remove("moved")
check("deleted", names(""), there)
extended("overwriting what is there", overwritten, list(range(0, 10, 2)), ONE_AT_A_TIME)
there.remove("set")
extended("delete_dir", without_set, there, ONE_AT_A_TIME)
extended("delete_dir_contents", emptied, [], ONE_AT_A_TIME)
end()
