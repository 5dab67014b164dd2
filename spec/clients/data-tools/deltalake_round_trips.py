"""deltalake: tables that are written, changed, read as they were, and written by several at once; polars reads them."""

import concurrent.futures

import obstore
import polars
from checks import EXTENDED, bucket, check, end, extended, settings
from deltalake import DeltaTable, write_deltalake

storage_options = settings("polars")["storage_options"]
without_retries = dict(storage_options, max_retries="1")
there = "s3://%s/table" % bucket


def rows(first, count):
    return polars.DataFrame({"id": range(first, first + count)})


def append(first):
    write_deltalake(there, rows(first, 10), mode="append", storage_options=storage_options)


def table(options=storage_options):
    return DeltaTable(there, storage_options=options)


def read(**more):
    return sorted(polars.read_delta(there, storage_options=storage_options, **more)["id"].to_list())


def files():
    """The data files that are there, and those of the newest version."""
    store = settings("obstore")["store"]
    listed = [row["path"] for page in obstore.list(store, "table") for row in page]
    names = [path.rpartition("/")[2] for path in listed if path.endswith(".parquet")]
    return sorted(names), sorted(uri.rpartition("/")[2] for uri in table().file_uris())


write_deltalake(there, rows(0, 100), storage_options=storage_options)
append(100)
merge = table().merge(rows(105, 10), "t.id = s.id", source_alias="s", target_alias="t")
merge.when_not_matched_insert_all().execute()
check("rows after a merge", read(), list(range(115)))
check("version 0", read(version=0), list(range(100)))
with concurrent.futures.ThreadPoolExecutor(6) as pool:
    list(pool.map(append, range(1000, 1060, 10)))
check("six writers at once", read(), list(range(115)) + list(range(1000, 1060)))
table().delete("id < 50")
table().optimize.compact()
kept = list(range(50, 115)) + list(range(1000, 1060))
check("rows after deletion", read(), kept)


def vacuum():
    names, current = files()
    gone = table(without_retries).vacuum(0, dry_run=False, enforce_retention_duration=False)
    return len(gone) == len(names) - len(current) > 0


extended("vacuum", vacuum, True, "DeleteObjects is not supported")
if EXTENDED:
    check("what vacuum left", *files())
else:
    check("what vacuum left", read(version=0), list(range(100)))
check("rows after vacuum", read(), kept)
end()
