"""dask with s3fs: a data set in many files, written again, and text."""

import os

import dask
import dask.bag
import dask.dataframe
import pandas
from checks import EXTENDED, ONE_AT_A_TIME, WHEN_REQUIRED, access_key, bucket, check, end, endpoint, extended, secret_key

if not EXTENDED:
    os.environ.update([WHEN_REQUIRED.split("=")])
dask.config.set(scheduler="threads", num_workers=4)
options = {"key": access_key, "secret": secret_key, "endpoint_url": endpoint}
there = "s3://" + bucket
frame = pandas.DataFrame({"id": range(10_000), "part": ["a", "b"] * 5000, "text": ["x" * 20] * 10_000})
frame["text"] = frame["text"].astype("string")
parted = dask.dataframe.from_pandas(frame, npartitions=8)


def back():
    read = dask.dataframe.read_parquet(there + "/set", storage_options=options).compute()
    return [len(read), int(read["id"].sum()), bool((read["text"] == "x" * 20).all())]


def overwritten():
    parted[parted["id"] < 100].repartition(npartitions=1).to_parquet(there + "/set", overwrite=True, storage_options=options)
    return back()


parted.to_parquet(there + "/set", storage_options=options)
check("Parquet", back(), [10_000, 49_995_000, True])
parted.to_parquet(there + "/parted", partition_on="part", storage_options=options)
one = dask.dataframe.read_parquet(there + "/parted", filters=[("part", "==", "b")], storage_options=options)
check("a partition", int(one["id"].sum().compute()), sum(range(1, 10_000, 2)))
dask.bag.from_sequence(["one", "two", "three"], npartitions=3).to_textfiles(there + "/text/*.txt", storage_options=options)
lines = dask.bag.read_text(there + "/text/*.txt", storage_options=options).compute()
check("text", [line.strip() for line in lines], ["one", "two", "three"])
extended("overwrite", overwritten, [100, 4950, True], ONE_AT_A_TIME)
end()
