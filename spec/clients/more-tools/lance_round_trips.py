"""Lance and LanceDB: versions, appends, six writers at once, compaction, clean-up, a search and a dropped table."""

import concurrent.futures
import datetime

import lance
import lancedb
import pyarrow
from checks import EXTENDED, access_key, bucket, check, end, endpoint, extended, secret_key

options = {
    "aws_endpoint": endpoint,
    "aws_access_key_id": access_key,
    "aws_secret_access_key": secret_key,
    "aws_region": "us-east-1",
    "allow_http": "true",
}
there = "s3://" + bucket
table = pyarrow.table({"id": range(10_000), "text": ["x" * 100] * 10_000})


def opened(**which):
    return lance.dataset(there + "/set.lance", storage_options=options, **which)


def state(dataset):
    read = dataset.to_table()
    return [read.num_rows, sum(read["id"].to_pylist())]


lance.write_dataset(table, there + "/set.lance", storage_options=options)
check("written", state(opened()), [10_000, 49_995_000])
lance.write_dataset(table, there + "/set.lance", mode="append", storage_options=options)
check("appended", state(opened()), [20_000, 99_990_000])


def append(index):
    lance.write_dataset(pyarrow.table({"id": [index], "text": ["y"]}), there + "/set.lance", mode="append", storage_options=options)


with concurrent.futures.ThreadPoolExecutor(6) as pool:
    list(pool.map(append, range(6)))
check("six at once", state(opened()), [20_006, 99_990_015])
check("an old version", state(opened(version=1)), [10_000, 49_995_000])
opened().delete("id >= 100")
check("deleted", state(opened())[0], 206)
opened().optimize.compact_files()
lance.write_dataset(table.slice(0, 10), there + "/set.lance", mode="overwrite", storage_options=options)
check("overwritten", state(opened()), [10, 45])


opened().cleanup_old_versions(older_than=datetime.timedelta(0), delete_unverified=True)
# Without batch deletion they stay, and nothing but its log says so.
check("old versions are gone", len(opened().versions()) == 1, EXTENDED)
check("the newest is there", state(opened()), [10, 45])
database = lancedb.connect(there + "/database", storage_options=options)
vectors = database.create_table("vectors", [{"id": index, "vector": [float(index), 1.0]} for index in range(300)])
vectors.add([{"id": 300, "vector": [1000.0, 1.0]}])
check("a search", [row["id"] for row in vectors.search([999.0, 1.0]).limit(1).to_list()], [300])


def dropped():
    database.drop_table("vectors")
    return list(database.table_names())


extended("a dropped table", dropped, [], "delete")
end()
