"""Round trips with boto3. Prints one JSON object a line: what was looked at, what came, what should have come."""

import hashlib
import json
import sys
import urllib.error
import urllib.request

import boto3
from boto3.s3.transfer import TransferConfig
from botocore.config import Config
from botocore.exceptions import ClientError

endpoint, access_key, secret_key, bucket = sys.argv[1:5]
session = {
    "endpoint_url": endpoint,
    "region_name": "us-east-1",
    "aws_access_key_id": access_key,
    "aws_secret_access_key": secret_key,
    "config": Config(signature_version="s3v4", s3={"addressing_style": "path"}, retries={"max_attempts": 1}),
}
s3 = boto3.client("s3", **session)
WHOLE = TransferConfig(multipart_threshold=5 * 1024**3)
KEY = "a//b/../c/./ü+ %2F&?#=.txt"


def check(name, got, expected):
    print(json.dumps({"name": name, "got": got, "expected": expected}))


def refusal(name, expected, call):
    """The code and status of the error that a call ends with."""
    try:
        call()
        check(name, "no error", expected)
    except ClientError as error:
        answer = error.response
        check(name, [answer["Error"]["Code"], answer["ResponseMetadata"]["HTTPStatusCode"]], expected)


def with_header(operation, name, value, call):
    """Sends a header that older versions have no parameter for."""

    def add(request, **_):
        request.headers[name] = value

    s3.meta.events.register("before-sign.s3." + operation, add)
    try:
        return call()
    finally:
        s3.meta.events.unregister("before-sign.s3." + operation, add)


def buckets():
    s3.create_bucket(Bucket=bucket)
    s3.create_bucket(Bucket=bucket + "-eu", CreateBucketConfiguration={"LocationConstraint": "eu-west-1"})
    check("location", s3.get_bucket_location(Bucket=bucket + "-eu")["LocationConstraint"], "eu-west-1")
    check("location of us-east-1", s3.get_bucket_location(Bucket=bucket)["LocationConstraint"], None)
    names = [row["Name"] for row in s3.list_buckets()["Buckets"] if row["Name"].startswith(bucket)]
    check("buckets", names, [bucket, bucket + "-eu"])
    s3.head_bucket(Bucket=bucket)
    again = lambda: s3.create_bucket(Bucket=bucket)
    refusal("second creation", ["BucketAlreadyOwnedByYou", 409], again)
    refusal("head of no bucket", ["404", 404], lambda: s3.head_bucket(Bucket=bucket + "-none"))
    s3.delete_bucket(Bucket=bucket + "-eu")


def objects():
    body = bytes(range(256)) * 1000
    put = s3.put_object(
        Bucket=bucket,
        Key=KEY,
        Body=body,
        ContentType="text/x-odd",
        CacheControl="no-store",
        ContentDisposition='attachment; filename="x"',
        Metadata={"one": "1", "two": "b c"},
    )
    check("etag", put["ETag"], '"' + hashlib.md5(body).hexdigest() + '"')
    got = s3.get_object(Bucket=bucket, Key=KEY)
    check("bytes", hashlib.sha256(got["Body"].read()).hexdigest(), hashlib.sha256(body).hexdigest())
    check("metadata", got["Metadata"], {"one": "1", "two": "b c"})
    check(
        "content headers",
        [got["ContentType"], got["CacheControl"], got["ContentDisposition"]],
        ["text/x-odd", "no-store", 'attachment; filename="x"'],
    )
    part = s3.get_object(Bucket=bucket, Key=KEY, Range="bytes=-10")
    check("range", [part["ContentRange"], list(part["Body"].read())], ["bytes 255990-255999/256000", list(body[-10:])])
    s3.copy_object(Bucket=bucket, Key="copy", CopySource={"Bucket": bucket, "Key": KEY})
    check("copied metadata", s3.head_object(Bucket=bucket, Key="copy")["Metadata"], {"one": "1", "two": "b c"})
    empty = s3.put_object(Bucket=bucket, Key="empty", Body=b"")
    check("etag of nothing", empty["ETag"], '"d41d8cd98f00b204e9800998ecf8427e"')
    refusal("no key", ["NoSuchKey", 404], lambda: s3.get_object(Bucket=bucket, Key="none"))


def conditions():
    put = lambda: s3.put_object(Bucket=bucket, Key="once", Body=b"first")
    with_header("PutObject", "If-None-Match", "*", put)
    etag = s3.head_object(Bucket=bucket, Key="once")["ETag"]
    refused = ["PreconditionFailed", 412]
    refusal("put if absent, again", refused, lambda: with_header("PutObject", "If-None-Match", "*", put))
    refusal("put if it matches another", refused, lambda: with_header("PutObject", "If-Match", '"0"', put))
    with_header("PutObject", "If-Match", etag, lambda: s3.put_object(Bucket=bucket, Key="once", Body=b"second"))
    check("put if it matches", s3.get_object(Bucket=bucket, Key="once")["Body"].read().decode(), "second")
    stale = lambda: s3.get_object(Bucket=bucket, Key="once", IfMatch=etag)
    refusal("get if it matches", refused, stale)
    fresh = s3.head_object(Bucket=bucket, Key="once")["ETag"]
    refusal("get if it changed", ["304", 304], lambda: s3.get_object(Bucket=bucket, Key="once", IfNoneMatch=fresh))


def presigned():
    parameters = {"Bucket": bucket, "Key": KEY, "ResponseContentType": "text/x-other"}
    url = s3.generate_presigned_url("get_object", Params=parameters, ExpiresIn=60)
    with urllib.request.urlopen(url) as answer:
        check("presigned get", [answer.headers["content-type"], len(answer.read())], ["text/x-other", 256000])
    url = s3.generate_presigned_url("put_object", Params={"Bucket": bucket, "Key": "put"}, ExpiresIn=60)
    with urllib.request.urlopen(urllib.request.Request(url, data=b"by link", method="PUT")) as answer:
        check("presigned put", answer.status, 200)
    check("what was put", s3.get_object(Bucket=bucket, Key="put")["Body"].read().decode(), "by link")
    try:
        urllib.request.urlopen(url.replace("/put?", "/other?"))
        check("a link to something else", "no error", 403)
    except urllib.error.HTTPError as error:
        check("a link to something else", error.code, 403)


def listings():
    for index in range(25):
        s3.put_object(Bucket=bucket, Key="list/%02d/x" % index, Body=b"")
    pages = list(s3.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix="list/", PaginationConfig={"PageSize": 10}))
    check("pages", [page["KeyCount"] for page in pages], [10, 10, 5])
    keys = [row["Key"] for page in pages for row in page["Contents"]]
    check("keys", keys, ["list/%02d/x" % index for index in range(25)])
    folders = s3.list_objects_v2(Bucket=bucket, Prefix="list/", Delimiter="/", StartAfter="list/21")
    prefixes = [row["Prefix"] for row in folders["CommonPrefixes"]]
    check("common prefixes", prefixes, ["list/%02d/" % index for index in range(21, 25)])
    check("odd key", s3.list_objects_v2(Bucket=bucket, Prefix="a//")["Contents"][0]["Key"], KEY)


def transfers(path):
    with open(path, "wb") as file:
        file.write(b"0123456789abcdef" * (1 << 20))
    s3.upload_file(path, bucket, "transfer", Config=WHOLE)
    s3.copy({"Bucket": bucket, "Key": "transfer"}, bucket, "transfer-copy", Config=WHOLE)
    s3.download_file(bucket, "transfer-copy", path + ".back")
    with open(path, "rb") as sent, open(path + ".back", "rb") as back:
        digests = [hashlib.sha256(file.read()).hexdigest() for file in (sent, back)]
    check("16 MiB up, copied and down", digests[1], digests[0])


def refused(path):
    unsupported = ["NotImplemented", 501]
    refusal("list_objects", unsupported, lambda: s3.list_objects(Bucket=bucket))
    refusal("delete_objects", unsupported, lambda: s3.delete_objects(Bucket=bucket, Delete={"Objects": [{"Key": "a"}]}))
    resource = boto3.resource("s3", **session).Bucket(bucket)
    refusal("objects.all", unsupported, lambda: list(resource.objects.all()))
    refusal("a public ACL", unsupported, lambda: s3.put_object(Bucket=bucket, Key="a", Body=b"", ACL="public-read"))
    refusal("tags", unsupported, lambda: s3.put_object(Bucket=bucket, Key="a", Body=b"", Tagging="a=b"))
    sealed = lambda: s3.put_object(Bucket=bucket, Key="a", Body=b"", ServerSideEncryption="AES256")
    refusal("encryption by header", unsupported, sealed)
    parts = lambda: s3.create_multipart_upload(Bucket=bucket, Key="a")
    refusal("a multipart upload", unsupported, parts)
    s3.put_object(Bucket=bucket, Key="a", Body=b"", ACL="private")
    check("a private ACL", s3.head_object(Bucket=bucket, Key="a")["ContentLength"], 0)


def emptied():
    for page in s3.get_paginator("list_objects_v2").paginate(Bucket=bucket):
        for row in page.get("Contents", []):
            s3.delete_object(Bucket=bucket, Key=row["Key"])
    s3.delete_object(Bucket=bucket, Key="never was")
    s3.delete_bucket(Bucket=bucket)
    refusal("a bucket that is gone", ["NoSuchBucket", 404], lambda: s3.list_objects_v2(Bucket=bucket))


buckets()
objects()
conditions()
presigned()
listings()
transfers(sys.argv[5])
refused(sys.argv[5])
emptied()
print(json.dumps({"name": "end", "got": True, "expected": True}))
