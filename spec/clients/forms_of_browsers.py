"""
Forms as boto3 and MinIO's library for Python make them, sent by curl and by urllib3. Prints one JSON object a line: what was looked at,
what came, what should have come.
"""

import datetime
import json
import subprocess
import sys

import boto3
import minio
import urllib3
from botocore.config import Config

endpoint, access_key, secret_key, bucket, path = sys.argv[1:6]
s3 = boto3.client(
    "s3",
    endpoint_url=endpoint,
    region_name="us-east-1",
    aws_access_key_id=access_key,
    aws_secret_access_key=secret_key,
    config=Config(signature_version="s3v4"),
)
# Quotes, blanks and no ASCII: curl escapes some of it.
NAME = "a ü b.txt"


def check(name, got, expected):
    print(json.dumps({"name": name, "got": got, "expected": expected}))


def by_curl(post, file):
    words = [word for name, value in post["fields"].items() for word in ("--form-string", f"{name}={value}")]
    written = ["--silent", "--show-error", "--output", "/dev/null", "--write-out", "%{http_code}"]
    sent = subprocess.run(
        ["curl", *written, *words, "--form", f"file=@{file};filename={NAME}", post["url"]], capture_output=True, text=True
    )
    return sent.stdout


def read(key):
    answer = s3.get_object(Bucket=bucket, Key=key)
    return [answer["Body"].read().decode(), answer["ContentType"], answer["Metadata"]]


s3.create_bucket(Bucket=bucket)
with open(path, "w") as file:
    file.write("bytes of a form")

fields = {"Content-Type": "text/x-form", "x-amz-meta-of": "boto3"}
conditions = [{"Content-Type": "text/x-form"}, {"x-amz-meta-of": "boto3"}, ["content-length-range", 1, 100]]
post = s3.generate_presigned_post(bucket, "boto3/${filename}", Fields=fields, Conditions=conditions, ExpiresIn=60)
check("a form of boto3, by curl", by_curl(post, path), "204")
check("what it wrote", read(f"boto3/{NAME}"), ["bytes of a form", "text/x-form", {"of": "boto3"}])
post = s3.generate_presigned_post(bucket, "boto3/long", Conditions=[["content-length-range", 1, 5]], ExpiresIn=60)
check("a file that is too long", by_curl(post, path), "400")
post = s3.generate_presigned_post(bucket, "boto3/key", ExpiresIn=60)
post["fields"]["key"] = "boto3/other"
check("another key", by_curl(post, path), "403")

client = minio.Minio(
    endpoint.split("//")[1], access_key=access_key, secret_key=secret_key, region="us-east-1", secure=False
)
policy = minio.datatypes.PostPolicy(bucket, datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(days=10))
policy.add_starts_with_condition("key", "minio/")
policy.add_content_length_range_condition(1, 100)
form = client.presigned_post_policy(policy)
sent = {**form, "key": "minio/a", "file": (NAME, b"bytes of minio")}
answer = urllib3.PoolManager().request("POST", f"{endpoint}/{bucket}", fields=sent)
check("a form of minio, by urllib3", answer.status, 204)
check("what it wrote", read("minio/a")[0], "bytes of minio")
check("the ETag of it", answer.headers["etag"], s3.head_object(Bucket=bucket, Key="minio/a")["ETag"])
print(json.dumps({"name": "end", "got": True, "expected": True}))
