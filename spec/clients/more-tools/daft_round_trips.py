"""daft: Parquet, CSV and partitions, and a data set that is written again."""

import daft
from checks import EXTENDED, IS_TLS, access_key, bucket, check, end, endpoint, secret_key
from daft.io import IOConfig, S3Config

config = IOConfig(
    s3=S3Config(
        endpoint_url=endpoint, key_id=access_key, access_key=secret_key, region_name="us-east-1", use_ssl=IS_TLS, verify_ssl=True
    )
)
there = "s3://" + bucket
frame = daft.from_pydict({"id": list(range(10_000)), "part": ["a", "b"] * 5000})


def back(name, read=daft.read_parquet):
    column = read(there + name, io_config=config).to_pydict()["id"]
    return [len(column), sum(column)]


frame.write_parquet(there + "/set", io_config=config)
check("Parquet", back("/set/*.parquet"), [10_000, 49_995_000])
frame.write_csv(there + "/csv", io_config=config)
check("CSV", back("/csv/*.csv", daft.read_csv), [10_000, 49_995_000])
frame.write_parquet(there + "/parted", partition_cols=["part"], io_config=config)
check("partitions", back("/parted/**/*.parquet"), [10_000, 49_995_000])
end()
