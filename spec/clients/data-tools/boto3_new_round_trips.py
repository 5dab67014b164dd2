"""boto3 from 1.36 and smart_open on it: parts, streams, batches, and its checksums behind the body."""

import io

import boto3
import smart_open
from botocore.config import Config
from checks import EXTENDED, IS_TLS, MIB, ONE_AT_A_TIME, WHEN_REQUIRED
from checks import access_key, bucket, check, digest, end, endpoint, extended, sample, secret_key, settings

client = settings("boto3")["client"]
client.put_object(Bucket=bucket, Key="one", Body=b"0123456789")
check("a range", client.get_object(Bucket=bucket, Key="one", Range="bytes=4-6")["Body"].read().decode(), "456")
there = "s3://%s/" % bucket
transport_params = {"client": client, "min_part_size": 5 * MIB}
with smart_open.open(there + "text.gz", "wt", transport_params=transport_params) as out:
    out.write("one\ntwo\n")
with smart_open.open(there + "text.gz", transport_params=transport_params) as back:
    check("lines", back.read().split(), ["one", "two"])
data = sample(12 * MIB + 1)
with smart_open.open(there + "large", "wb", transport_params=transport_params) as out:
    out.write(data)
with smart_open.open(there + "large", "rb", transport_params=transport_params) as back:
    back.seek(7 * MIB - 1)
    check("over a border", list(back.read(2)), list(data[7 * MIB - 1 : 7 * MIB + 1]))
client.upload_fileobj(io.BytesIO(data), bucket, "parts")


def read(key):
    """All of an object; the client holds it against the checksum that comes with it."""
    return digest(client.get_object(Bucket=bucket, Key=key)["Body"].read())


check("parts", read("parts"), digest(data))


def copied():
    client.copy({"Bucket": bucket, "Key": "large"}, bucket, "copy")
    return read("copy")


def pages():
    listed = client.get_paginator("list_objects").paginate(Bucket=bucket, PaginationConfig={"PageSize": 2})
    return [[row["Key"] for row in page["Contents"]] for page in listed]


def removed():
    names = [{"Key": "one"}, {"Key": "never was"}]
    answer = client.delete_objects(Bucket=bucket, Delete={"Objects": names})
    return [row["Key"] for row in answer["Deleted"]]


extended("copy", copied, digest(data), "TransferConfig (boto3)")
expected = [["copy", "large"], ["one", "parts"], ["text.gz"]]
extended("list_objects", pages, expected, "list_objects_v2 (boto3)")
extended("delete_objects", removed, ["one", "never was"], ONE_AT_A_TIME)
keys = {"aws_access_key_id": access_key, "aws_secret_access_key": secret_key, "region_name": "us-east-1"}
by_default = boto3.client("s3", endpoint_url=endpoint, config=Config(retries={"max_attempts": 1}), **keys)
put = lambda: by_default.put_object(Bucket=bucket, Key="one", Body=b"x")["ResponseMetadata"]["HTTPStatusCode"]
if IS_TLS:
    extended("by default", put, 200, WHEN_REQUIRED)
else:
    check("by default", put(), 200)


def checksum(algorithm):
    """Whether one that boto3 computes by itself comes back, and the bytes with it."""
    sent = client.put_object(Bucket=bucket, Key="one", Body=data, ChecksumAlgorithm=algorithm)
    head = client.head_object(Bucket=bucket, Key="one", ChecksumMode="ENABLED")
    name = "Checksum" + algorithm
    return [sent[name] == head[name], head.get("ContentEncoding"), read("one")]


def emptied():
    everything = boto3.resource("s3", endpoint_url=endpoint, **keys).Bucket(bucket)
    everything.objects.all().delete()
    return [row.key for row in everything.objects.all()]


def appended():
    client.put_object(Bucket=bucket, Key="log", Body=b"one ", WriteOffsetBytes=0)
    for offset in [4, 4 + len(data)]:
        client.put_object(Bucket=bucket, Key="log", Body=data, WriteOffsetBytes=offset)
    try:
        client.put_object(Bucket=bucket, Key="log", Body=data, WriteOffsetBytes=4)
    except client.exceptions.InvalidWriteOffset:
        return read("log")


def renamed():
    client.rename_object(Bucket=bucket, Key="renamed", RenameSource="log")
    keys = [row["Key"] for row in client.list_objects_v2(Bucket=bucket)["Contents"]]
    return ["log" in keys, read("renamed")]


extended("append", appended, digest(b"one " + data + data), "appending to an object is not supported", "s3.extensions")
extended("rename_object", renamed, [False, digest(b"one " + data + data)], "RenameObject is not supported", "s3.extensions")
if EXTENDED:
    for algorithm in ["CRC32", "SHA1", "SHA256"]:
        check(algorithm, checksum(algorithm), [True, None, digest(data)])
extended("bucket.objects", emptied, [], "list_objects_v2 (boto3)")
end()
