"""boto3 from 1.36 and smart_open on it, with the settings that keep checksums out of trailers, and without."""

import boto3
import smart_open
from botocore.config import Config
from checks import IS_TLS, MIB, ONE_AT_A_TIME, WHEN_REQUIRED, access_key, bucket, check, end, endpoint, refused, secret_key, settings

client = settings("boto3")["client"]
client.put_object(Bucket=bucket, Key="one", Body=b"0123456789")
check("a range", client.get_object(Bucket=bucket, Key="one", Range="bytes=4-6")["Body"].read().decode(), "456")
there = "s3://%s/" % bucket
transport_params = {"client": client, "min_part_size": 5 * MIB}
with smart_open.open(there + "text.gz", "wt", transport_params=transport_params) as out:
    out.write("one\ntwo\n")
with smart_open.open(there + "text.gz", transport_params=transport_params) as back:
    check("lines", back.read().split(), ["one", "two"])
with smart_open.open(there + "large", "wb", transport_params=transport_params) as out:
    for index in range(12):
        out.write(bytes([index]) * MIB)
with smart_open.open(there + "large", "rb", transport_params=transport_params) as back:
    back.seek(7 * MIB - 1)
    check("over a border", list(back.read(2)), [6, 7])
names = {"Objects": [{"Key": "one"}]}
refused("delete_objects", lambda: client.delete_objects(Bucket=bucket, Delete=names), ONE_AT_A_TIME)
refused("list_objects", lambda: client.list_objects(Bucket=bucket), "list_objects_v2 (boto3)")
source = {"Bucket": bucket, "Key": "large"}
refused("copy", lambda: client.copy(source, bucket, "copy"), "TransferConfig (boto3)")
keys = {"aws_access_key_id": access_key, "aws_secret_access_key": secret_key, "region_name": "us-east-1"}
by_default = boto3.client("s3", endpoint_url=endpoint, config=Config(retries={"max_attempts": 1}), **keys)
put = lambda: by_default.put_object(Bucket=bucket, Key="one", Body=b"x")
if IS_TLS:
    refused("by default", put, WHEN_REQUIRED)
else:
    check("by default", put()["ResponseMetadata"]["HTTPStatusCode"], 200)
end()
