"""pyarrow: its own file system, and Parquet through it."""

import subprocess
import sys

from checks import MIB, ONE_AT_A_TIME, WHEN_REQUIRED, access_key, bucket, check, end, endpoint, refused, secret_key, settings

# In a process of its own, without the variable: it is read once.
BY_DEFAULT = """
import sys
from pyarrow import fs
store = fs.S3FileSystem(endpoint_override=%r, access_key=%r, secret_key=%r, region="us-east-1")
with store.open_output_stream(%r) as out:
    out.write(b"x")
"""


def by_default():
    script = BY_DEFAULT % (endpoint, access_key, secret_key, bucket + "/refused")
    subprocess.run([sys.executable, "-c", script], check=True, stderr=subprocess.PIPE, text=True)


def told(call):
    """The error of a process as one that says what the process said."""
    try:
        call()
    except subprocess.CalledProcessError as error:
        raise RuntimeError(error.stderr) from None


refused("by default", lambda: told(by_default), WHEN_REQUIRED)
store = settings("pyarrow")["store"]
from pyarrow import fs, table
from pyarrow import parquet
import pyarrow.dataset as dataset

rows = table({"id": list(range(1000)), "part": ["a", "b"] * 500})
with store.open_output_stream(bucket + "/text") as out:
    out.write(b"0123456789")
with store.open_input_file(bucket + "/text") as back:
    back.seek(4)
    check("a range", back.read(3).decode(), "456")
parquet.write_table(rows, bucket + "/one.parquet", filesystem=store)
check("Parquet", parquet.read_table(bucket + "/one.parquet", filesystem=store).equals(rows), True)
dataset.write_dataset(rows, bucket + "/set", filesystem=store, format="parquet", partitioning=["part"])
back = dataset.dataset(bucket + "/set", filesystem=store, partitioning=["part"])
check("partitions", back.count_rows(filter=dataset.field("part") == "a"), 500)
with store.open_output_stream(bucket + "/large") as out:
    for index in range(12):
        out.write(bytes([index]) * MIB)
check("parts", store.get_file_info(bucket + "/large").size, 12 * MIB)
store.copy_file(bucket + "/text", bucket + "/copy")
store.move(bucket + "/copy", bucket + "/moved")
names = [info.base_name for info in store.get_file_info(fs.FileSelector(bucket))]
check("names", sorted(names), ["large", "moved", "one.parquet", "set", "text"])
store.delete_file(bucket + "/moved")
check("deleted", store.get_file_info(bucket + "/moved").type == fs.FileType.NotFound, True)
refused("delete_dir", lambda: store.delete_dir(bucket + "/set"), ONE_AT_A_TIME)
end()
