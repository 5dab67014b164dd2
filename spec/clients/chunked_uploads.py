"""Uploads with the defaults of boto3, pyarrow and s3fs, which send bodies in chunks: one line of JSON for each check."""

import io
import json
import sys

import boto3
import pyarrow.fs
import s3fs

endpoint, access_key, secret_key, bucket, authority = sys.argv[1:6]
scheme = endpoint.split("://", maxsplit=1)[0]
SMALL = bytes(range(256)) * 10
LARGE = bytes(range(251)) * 60_000


def check(name, got, expected):
    print(json.dumps({"name": name, "got": got, "expected": expected}), flush=True)


client = boto3.client(
    "s3",
    endpoint_url=endpoint,
    region_name="us-east-1",
    aws_access_key_id=access_key,
    aws_secret_access_key=secret_key,
    verify=authority or None,
)
for size, data in (("small", SMALL), ("large", LARGE), ("empty", b"")):
    stored = client.put_object(Bucket=bucket, Key=f"boto3-{size}", Body=data)
    check(f"boto3 {size}: checksum", bool(stored.get("ChecksumCRC32")), True)
    read = client.get_object(Bucket=bucket, Key=f"boto3-{size}")
    check(f"boto3 {size}", read["Body"].read() == data, True)
    check(f"boto3 {size}: encoding", read.get("ContentEncoding"), None)
for algorithm in ("CRC32", "CRC32C", "CRC64NVME", "SHA1", "SHA256"):
    try:
        client.put_object(Bucket=bucket, Key=algorithm, Body=SMALL, ChecksumAlgorithm=algorithm)
    except Exception as error:
        # Two of them need a package that boto3 does not install.
        check(f"boto3 {algorithm}", "crt" in str(error).lower(), True)
        continue
    head = client.head_object(Bucket=bucket, Key=algorithm, ChecksumMode="ENABLED")
    check(f"boto3 {algorithm}", bool(head.get(f"Checksum{algorithm}")), True)
client.upload_fileobj(io.BytesIO(LARGE * 2), bucket, "boto3-parts")
check("boto3 parts", client.get_object(Bucket=bucket, Key="boto3-parts")["Body"].read() == LARGE * 2, True)

arrow = pyarrow.fs.S3FileSystem(
    access_key=access_key,
    secret_key=secret_key,
    endpoint_override=endpoint.split("://", maxsplit=1)[1],
    scheme=scheme,
    region="us-east-1",
    **({"tls_ca_file_path": authority} if authority else {}),
)
for size, data in (("small", SMALL), ("large", LARGE)):
    with arrow.open_output_stream(f"{bucket}/pyarrow-{size}") as stream:
        stream.write(data)
    with arrow.open_input_stream(f"{bucket}/pyarrow-{size}") as stream:
        check(f"pyarrow {size}", stream.read() == data, True)

files = s3fs.S3FileSystem(
    key=access_key,
    secret=secret_key,
    endpoint_url=endpoint,
    client_kwargs={"region_name": "us-east-1", **({"verify": authority} if authority else {})},
)
for size, data in (("small", SMALL), ("large", LARGE)):
    files.pipe(f"{bucket}/s3fs-{size}", data)
    check(f"s3fs {size}", files.cat(f"{bucket}/s3fs-{size}") == data, True)

check("end", None, None)
