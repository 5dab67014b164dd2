"""polars: scan, sink, partitions, globs."""

import polars
from checks import bucket, check, end, settings

storage_options = settings("polars")["storage_options"]
there = "s3://" + bucket
rows = polars.DataFrame({"id": range(1000), "part": ["a", "b"] * 500})
rows.write_parquet(there + "/one.parquet", storage_options=storage_options)
check("Parquet", polars.read_parquet(there + "/one.parquet", storage_options=storage_options).equals(rows), True)
rows.lazy().sink_csv(there + "/rows/one.csv", storage_options=storage_options)
rows.lazy().sink_csv(there + "/rows/two.csv", storage_options=storage_options)
scanned = polars.scan_csv(there + "/rows/*.csv", storage_options=storage_options).collect()
check("a glob", scanned.equals(polars.concat([rows, rows])), True)
rows.write_parquet(there + "/set/", partition_by="part", storage_options=storage_options)
scanned = polars.scan_parquet(there + "/set/", storage_options=storage_options, hive_partitioning=True)
check("partitions", scanned.filter(polars.col("part") == "a").collect()["id"].to_list(), list(range(0, 1000, 2)))
end()
