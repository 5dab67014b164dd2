"""
Round trips with boto3. Prints one JSON object a line: what was looked at, what came, what should have come. With the settings
of the page; or, with `extended` as the last argument, its defaults, against a server with everything of `s3.extensions`.
"""

import base64
import datetime
import hashlib
import json
import sys
import urllib.error
import urllib.request

import boto3
from boto3.s3.transfer import TransferConfig
from botocore.config import Config
from botocore.exceptions import ClientError

endpoint, access_key, secret_key, bucket, path, mode = sys.argv[1:7]
EXTENDED = {"extended": True, "default": False}[mode]
# Links are signed with version 2 by default, which this store reads in compatible alone.
BY_DEFAULT = {"signature_version": "s3v4", "retries": {"max_attempts": 1}}
BY_PAGE = {"s3": {"addressing_style": "path"}, **BY_DEFAULT}
session = {
    "endpoint_url": endpoint,
    "region_name": "us-east-1",
    "aws_access_key_id": access_key,
    "aws_secret_access_key": secret_key,
    "config": Config(**(BY_DEFAULT if EXTENDED else BY_PAGE)),
}
s3 = boto3.client("s3", **session)
MIB = 1024**2
# Copies inside the store in one request: without its extension it knows no copy of a part.
COPYING = TransferConfig() if EXTENDED else TransferConfig(multipart_threshold=5 * 1024**3)
PARALLEL = TransferConfig(multipart_threshold=5 * MIB, multipart_chunksize=5 * MIB, max_concurrency=16)
MD5_OF_KEPT = base64.b64encode(hashlib.md5(b"kept").digest()).decode()
UNSUPPORTED = ["NotImplemented", 501]
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
    s3.create_bucket(Bucket=bucket)
    region = {"LocationConstraint": "eu-west-1"}
    again = lambda: s3.create_bucket(Bucket=bucket + "-eu", CreateBucketConfiguration=region)
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


def links_of_version_2():
    """What generate_presigned_url makes unless it is told otherwise."""
    old = boto3.client("s3", **{**session, "config": Config(signature_version="s3", s3={"addressing_style": "path"})})
    parameters = {"Bucket": bucket, "Key": KEY, "ResponseContentType": "text/x-other"}
    url = old.generate_presigned_url("get_object", Params=parameters, ExpiresIn=60)
    check("a link of version 2", "AWSAccessKeyId=" in url, True)
    if not EXTENDED:
        try:
            urllib.request.urlopen(url)
            check("a link of version 2 in strict", "no error", 400)
        except urllib.error.HTTPError as error:
            check("a link of version 2 in strict", error.code, 400)
        return
    with urllib.request.urlopen(url) as answer:
        check("read by it", [answer.headers["content-type"], len(answer.read())], ["text/x-other", 256000])
    url = old.generate_presigned_url("head_object", Params={"Bucket": bucket, "Key": KEY}, ExpiresIn=60)
    with urllib.request.urlopen(urllib.request.Request(url, method="HEAD")) as answer:
        check("headed by it", answer.headers["content-length"], "256000")
    url = old.generate_presigned_url("put_object", Params={"Bucket": bucket, "Key": "put"}, ExpiresIn=60)
    try:
        urllib.request.urlopen(urllib.request.Request(url, data=b"by link", method="PUT"))
        check("written by it", "no error", 403)
    except urllib.error.HTTPError as error:
        check("written by it", error.code, 403)


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


def digest(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def transfers():
    with open(path, "wb") as file:
        file.write(b"".join(index.to_bytes(8, "big") for index in range(8 * MIB + 1)))
    sent = digest(path)
    described = {"ContentType": "text/x-parts", "Metadata": {"one": "1"}}
    for name, config in [("default", TransferConfig()), ("parallel", PARALLEL)]:
        s3.upload_file(path, bucket, "transfer", ExtraArgs=described, Config=config)
        head = s3.head_object(Bucket=bucket, Key="transfer")
        parts = {"default": 9, "parallel": 13}[name]
        check(name + ": parts", head["ETag"].rpartition("-")[2], '%d"' % parts)
        check(name + ": description", [head["ContentType"], head["Metadata"]], ["text/x-parts", {"one": "1"}])
        s3.download_file(bucket, "transfer", path + ".back", Config=config)
        check(name + ": 64 MiB up and down", digest(path + ".back"), sent)
    part = s3.get_object(Bucket=bucket, Key="transfer", PartNumber=13)
    check("a part", [part["PartsCount"], part["ContentLength"]], [13, 4 * MIB + 8])
    with open(path, "rb") as file:
        s3.upload_fileobj(file, bucket, "transfer-stream")
    s3.copy({"Bucket": bucket, "Key": "transfer"}, bucket, "transfer-copy", Config=COPYING)
    for name in ["transfer-stream", "transfer-copy"]:
        s3.download_file(bucket, name, path + ".back")
        check(name, digest(path + ".back"), sent)


def uploads():
    key = "by hand"
    upload = s3.create_multipart_upload(Bucket=bucket, Key=key)["UploadId"]
    listed = s3.list_multipart_uploads(Bucket=bucket)["Uploads"]
    check("uploads", [[row["Key"], row["UploadId"]] for row in listed], [[key, upload]])
    bodies = {3: b"c" * 10, 1: b"a" * (5 * MIB), 2: b"b" * (5 * MIB)}
    parts = []
    for number, body in bodies.items():
        sent = s3.upload_part(Bucket=bucket, Key=key, UploadId=upload, PartNumber=number, Body=body)
        parts.append({"PartNumber": number, "ETag": sent["ETag"]})
    pages = s3.get_paginator("list_parts").paginate(Bucket=bucket, Key=key, UploadId=upload, PaginationConfig={"PageSize": 2})
    sizes = [[row["PartNumber"], row["Size"]] for page in pages for row in page["Parts"]]
    check("parts", sizes, [[1, 5 * MIB], [2, 5 * MIB], [3, 10]])
    complete = lambda parts: s3.complete_multipart_upload(
        Bucket=bucket, Key=key, UploadId=upload, MultipartUpload={"Parts": parts}
    )
    refusal("parts out of order", ["InvalidPartOrder", 400], lambda: complete(parts))
    ordered = sorted(parts, key=lambda part: part["PartNumber"])
    strange = [dict(ordered[0], ETag='"0"')]
    refusal("a part that is another", ["InvalidPart", 400], lambda: complete(strange))
    small = [ordered[2], {"PartNumber": 4, "ETag": ordered[0]["ETag"]}]
    s3.upload_part(Bucket=bucket, Key=key, UploadId=upload, PartNumber=4, Body=bodies[1])
    refusal("a small part in the middle", ["EntityTooSmall", 400], lambda: complete(small))
    done = complete(ordered)
    check("completed", [done["Key"], done["ETag"].rpartition("-")[2]], [key, '3"'])
    check("completed again", complete(ordered)["ETag"], done["ETag"])
    got = s3.get_object(Bucket=bucket, Key=key, Range="bytes=%d-%d" % (5 * MIB - 2, 5 * MIB + 1))
    check("a range over a border", got["Body"].read().decode(), "aabb")
    given_up = s3.create_multipart_upload(Bucket=bucket, Key=key)["UploadId"]
    s3.abort_multipart_upload(Bucket=bucket, Key=key, UploadId=given_up)
    gone = lambda: s3.abort_multipart_upload(Bucket=bucket, Key=key, UploadId=given_up)
    refusal("an upload that is gone", ["NoSuchUpload", 404], gone)
    s3.create_multipart_upload(Bucket=bucket, Key="left behind")
    url = s3.generate_presigned_url("upload_part", Params={"Bucket": bucket, "Key": key, "UploadId": given_up, "PartNumber": 1})
    try:
        urllib.request.urlopen(urllib.request.Request(url, data=b"x", method="PUT"))
        check("a link to an upload that is gone", "no error", 404)
    except urllib.error.HTTPError as error:
        check("a link to an upload that is gone", error.code, 404)


def versions():
    name = bucket + "-versions"
    s3.create_bucket(Bucket=name)
    s3.put_bucket_versioning(Bucket=name, VersioningConfiguration={"Status": "Enabled"})
    check("versioning", s3.get_bucket_versioning(Bucket=name)["Status"], "Enabled")
    ids = [s3.put_object(Bucket=name, Key="k", Body=b"%d" % index)["VersionId"] for index in range(3)]
    marker = s3.delete_object(Bucket=name, Key="k")
    check("a marker", marker["DeleteMarker"], True)
    refusal("behind a marker", ["NoSuchKey", 404], lambda: s3.get_object(Bucket=name, Key="k"))
    pages = list(s3.get_paginator("list_object_versions").paginate(Bucket=name, PaginationConfig={"PageSize": 2}))
    listed = [row["VersionId"] for page in pages for row in page.get("Versions", [])]
    check("versions", listed, ids[::-1])
    check("markers", [row["VersionId"] for page in pages for row in page.get("DeleteMarkers", [])], [marker["VersionId"]])
    check("a version", s3.get_object(Bucket=name, Key="k", VersionId=ids[0])["Body"].read().decode(), "0")
    url = s3.generate_presigned_url("get_object", Params={"Bucket": name, "Key": "k", "VersionId": ids[1]})
    with urllib.request.urlopen(url) as answer:
        check("a version by link", [answer.read().decode(), answer.headers["x-amz-version-id"]], ["1", ids[1]])
    refusal("a bucket with versions", ["BucketNotEmpty", 409], lambda: s3.delete_bucket(Bucket=name))
    for version in ids + [marker["VersionId"]]:
        s3.delete_object(Bucket=name, Key="k", VersionId=version)
    check("nothing is left", "Versions" in s3.list_object_versions(Bucket=name), False)
    s3.delete_bucket(Bucket=name)


def locks():
    name = bucket + "-locks"
    s3.create_bucket(Bucket=name, ObjectLockEnabledForBucket=True)
    rule = {"DefaultRetention": {"Mode": "COMPLIANCE", "Years": 1}}
    configuration = {"ObjectLockEnabled": "Enabled", "Rule": rule}
    s3.put_object_lock_configuration(Bucket=name, ObjectLockConfiguration=configuration)
    check("lock", s3.get_object_lock_configuration(Bucket=name)["ObjectLockConfiguration"], configuration)
    s3.put_object_lock_configuration(Bucket=name, ObjectLockConfiguration={"ObjectLockEnabled": "Enabled"})
    until = datetime.datetime(2140, 1, 1, tzinfo=datetime.timezone.utc)
    governed = {"ObjectLockMode": "GOVERNANCE", "ObjectLockRetainUntilDate": until}
    version = s3.put_object(Bucket=name, Key="k", Body=b"kept", ContentMD5=MD5_OF_KEPT, **governed)["VersionId"]
    head = s3.head_object(Bucket=name, Key="k")
    check("mode", [head["ObjectLockMode"], head["ObjectLockRetainUntilDate"].year], ["GOVERNANCE", 2140])
    remove = lambda **more: s3.delete_object(Bucket=name, Key="k", VersionId=version, **more)
    refusal("a version that is kept", ["AccessDenied", 403], remove)
    s3.put_object_legal_hold(Bucket=name, Key="k", LegalHold={"Status": "ON"})
    check("hold", s3.get_object_legal_hold(Bucket=name, Key="k")["LegalHold"]["Status"], "ON")
    refusal("a version that is held", ["AccessDenied", 403], lambda: remove(BypassGovernanceRetention=True))
    s3.put_object_legal_hold(Bucket=name, Key="k", LegalHold={"Status": "OFF"})
    earlier = {"Mode": "GOVERNANCE", "RetainUntilDate": datetime.datetime(2139, 1, 1)}
    shorter = lambda **more: s3.put_object_retention(Bucket=name, Key="k", Retention=earlier, **more)
    refusal("an earlier date", ["AccessDenied", 403], shorter)
    shorter(BypassGovernanceRetention=True)
    check("retention", s3.get_object_retention(Bucket=name, Key="k")["Retention"]["RetainUntilDate"].year, 2139)
    upload = s3.create_multipart_upload(Bucket=name, Key="parts", ObjectLockLegalHoldStatus="ON", **governed)["UploadId"]
    part = s3.upload_part(Bucket=name, Key="parts", UploadId=upload, PartNumber=1, Body=b"x")["ETag"]
    parts = {"Parts": [{"PartNumber": 1, "ETag": part}]}
    s3.complete_multipart_upload(Bucket=name, Key="parts", UploadId=upload, MultipartUpload=parts)
    head = s3.head_object(Bucket=name, Key="parts")
    check("the lock of an upload", [head["ObjectLockMode"], head["ObjectLockLegalHoldStatus"]], ["GOVERNANCE", "ON"])
    remove(BypassGovernanceRetention=True)
    refusal("a version that is gone", ["NoSuchVersion", 404], lambda: s3.get_object(Bucket=name, Key="k", VersionId=version))


def extended(name, expected, call):
    """What the extensions are for: with them the call returns this; without them it is refused."""
    if EXTENDED:
        check(name, call(), expected)
    else:
        refusal(name, UNSUPPORTED, call)


def extensions():
    for index in range(5):
        s3.put_object(Bucket=bucket, Key="ä/%d" % index, Body=b"")
    keys = ["ä/%d" % index for index in range(5)]
    resource = boto3.resource("s3", **session).Bucket(bucket)

    def pages():
        listed = s3.get_paginator("list_objects").paginate(Bucket=bucket, Prefix="ä/", PaginationConfig={"PageSize": 2})
        return [[row["Key"] for row in page["Contents"]] for page in listed]

    def folders():
        return [row["Prefix"] for row in s3.list_objects(Bucket=bucket, Prefix="ä", Delimiter="/")["CommonPrefixes"]]

    def removed():
        names = [{"Key": key} for key in keys[:2]]
        answer = s3.delete_objects(Bucket=bucket, Delete={"Objects": names, "Quiet": True})
        return [answer.get("Deleted", []), answer.get("Errors", []), [row.key for row in resource.objects.filter(Prefix="ä/")]]

    def part_of(copy):
        source = {"Bucket": bucket, "Key": "transfer"}
        upload = s3.create_multipart_upload(Bucket=bucket, Key=copy)["UploadId"]
        where = {"Bucket": bucket, "Key": copy, "UploadId": upload}
        try:
            given = {"CopySource": source, "CopySourceRange": "bytes=5-%d" % (6 * MIB)}
            etag = s3.upload_part_copy(PartNumber=1, **given, **where)["CopyPartResult"]["ETag"]
            s3.complete_multipart_upload(MultipartUpload={"Parts": [{"PartNumber": 1, "ETag": etag}]}, **where)
        except ClientError:
            s3.abort_multipart_upload(**where)
            raise
        with open(path, "rb") as file:
            return s3.get_object(Bucket=bucket, Key=copy)["Body"].read() == file.read(6 * MIB + 1)[5:]

    def in_parts():
        s3.copy({"Bucket": bucket, "Key": "transfer"}, bucket, "in parts", Config=PARALLEL)
        s3.download_file(bucket, "in parts", path + ".back")
        return digest(path + ".back")

    extended("list_objects", [keys[:2], keys[2:4], keys[4:]], pages)
    extended("common prefixes of list_objects", ["ä/"], folders)
    extended("delete_objects", [[], [], keys[2:]], removed)
    extended("objects.all", True, lambda: keys[4] in [row.key for row in resource.objects.all()])
    extended("a copy of a part", True, lambda: part_of("part"))
    extended("a copy in parts", digest(path), in_parts)
    tags()


def tags():
    where = {"Bucket": bucket, "Key": "tagged"}
    one, two = [{"Key": "team", "Value": "a b"}], [{"Key": "ключ", "Value": ""}]

    def of(key):
        return s3.get_object_tagging(Bucket=bucket, Key=key)["TagSet"]

    def written():
        s3.put_object(Body=b"small", Tagging="team=a+b", **where)
        return [of("tagged"), int(s3.head_object(**where)["ResponseMetadata"]["HTTPHeaders"]["x-amz-tagging-count"])]

    def uploaded():
        s3.upload_file(path, bucket, "tagged parts", ExtraArgs={"Tagging": "team=a%20b"}, Config=PARALLEL)
        return of("tagged parts")

    def copied():
        s3.copy_object(Bucket=bucket, Key="tagged copy", CopySource=where)
        kept = of("tagged copy")
        s3.copy_object(Bucket=bucket, Key="tagged copy", CopySource=where, TaggingDirective="REPLACE", Tagging="")
        return [kept, of("tagged copy")]

    def changed():
        s3.put_object_tagging(Tagging={"TagSet": two}, **where)
        there = of("tagged")
        s3.delete_object_tagging(**where)
        return [there, of("tagged")]

    def of_bucket():
        s3.put_bucket_tagging(Bucket=bucket, Tagging={"TagSet": one + two})
        there = s3.get_bucket_tagging(Bucket=bucket)["TagSet"]
        s3.delete_bucket_tagging(Bucket=bucket)
        return there

    extended("tags of a write", [one, 1], written)
    if EXTENDED:
        check("tags of an upload in parts", uploaded(), one)
        check("tags of copies", copied(), [one, []])
    extended("tags that are set and removed", [two, []], changed)
    extended("tags of a bucket", one + two, of_bucket)


def refused():
    refusal("a public ACL", UNSUPPORTED, lambda: s3.put_object(Bucket=bucket, Key="a", Body=b"", ACL="public-read"))
    sealed = lambda: s3.put_object(Bucket=bucket, Key="a", Body=b"", ServerSideEncryption="AES256")
    refusal("encryption by header", UNSUPPORTED, sealed)
    s3.put_object(Bucket=bucket, Key="a", Body=b"", ACL="private")
    check("a private ACL", s3.head_object(Bucket=bucket, Key="a")["ContentLength"], 0)


def emptied():
    open_uploads = [row["Key"] for row in s3.list_multipart_uploads(Bucket=bucket).get("Uploads", [])]
    check("uploads that are left open", open_uploads, ["left behind"])
    for row in s3.list_multipart_uploads(Bucket=bucket).get("Uploads", []):
        s3.abort_multipart_upload(Bucket=bucket, Key=row["Key"], UploadId=row["UploadId"])
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
links_of_version_2()
listings()
transfers()
uploads()
versions()
locks()
extensions()
refused()
emptied()
print(json.dumps({"name": "end", "got": True, "expected": True}))
