"""zarr with s3fs, by itself and below xarray: chunks, shards, written again, removed."""

import os

import numpy
import xarray
import zarr
from checks import EXTENDED, ONE_AT_A_TIME, WHEN_REQUIRED
from checks import access_key, bucket, check, digest, end, endpoint, extended, secret_key

if not EXTENDED:
    os.environ.update([WHEN_REQUIRED.split("=")])
options = {"key": access_key, "secret": secret_key, "endpoint_url": endpoint}
there = "s3://" + bucket
data = numpy.arange(1_000_000, dtype="i4").reshape(1000, 1000)


def write(**more):
    array = zarr.create_array(
        there + "/array", shape=data.shape, chunks=(100, 100), dtype="i4", storage_options=options, **more
    )
    array[:] = data


def back(name="/array"):
    return digest(zarr.open_array(there + name, mode="r", storage_options=options)[:].tobytes())


def overwritten():
    write(overwrite=True)
    return back()


write()
check("chunks", back(), digest(data.tobytes()))
part = zarr.open_array(there + "/array", mode="r+", storage_options=options)
part[:50, :50] = 7
check("a part of a chunk", int(part[:100, :100].sum()), int(data[:100, :100].sum() - data[:50, :50].sum() + 7 * 2500))
sharded = zarr.create_array(
    there + "/sharded", shape=data.shape, chunks=(100, 100), shards=(500, 500), dtype="i4", storage_options=options
)
sharded[:] = data
check("shards", back("/sharded"), digest(data.tobytes()))
check("a chunk of a shard", int(sharded[123, 456]), int(data[123, 456]))
group = zarr.open_group(there + "/group", mode="w-", storage_options=options)
group.create_array("a", shape=(10,), dtype="i4")[:] = 1
check("names", sorted(group.array_keys()), ["a"])
set_of = xarray.Dataset({"t": (("x", "y"), data)}, coords={"x": range(1000), "y": range(1000)})
set_of.to_zarr(there + "/xarray", storage_options=options, consolidated=False)
check("xarray", xarray.open_zarr(there + "/xarray", storage_options=options, consolidated=False).equals(set_of), True)
extended("overwrite", overwritten, digest(data.tobytes()), ONE_AT_A_TIME)
end()
