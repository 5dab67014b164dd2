"""deltalake: tables that are written, changed, read as they were, and written by several at once; polars reads them."""

import concurrent.futures

import polars
from checks import ONE_AT_A_TIME, bucket, check, end, refused, settings
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


def count(**more):
    return polars.read_delta(there, storage_options=storage_options, **more).height


write_deltalake(there, rows(0, 100), storage_options=storage_options)
append(100)
merge = table().merge(rows(105, 10), "t.id = s.id", source_alias="s", target_alias="t")
merge.when_not_matched_insert_all().execute()
check("rows after a merge", count(), 115)
check("version 0", count(version=0), 100)
with concurrent.futures.ThreadPoolExecutor(6) as pool:
    list(pool.map(append, range(1000, 1060, 10)))
check("six writers at once", count(), 175)
table().delete("id < 50")
table().optimize.compact()
check("rows after deletion", count(), 125)
write_deltalake(there, rows(0, 1), mode="overwrite", storage_options=storage_options)
vacuum = lambda: table(without_retries).vacuum(0, dry_run=False, enforce_retention_duration=False)
refused("vacuum", vacuum, "DeleteObjects is not supported")
check("what vacuum left", count(version=0), 100)
end()
