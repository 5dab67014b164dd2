"""aioboto3, and below it aiobotocore: parts, copies, listing and deletion of all, links."""

import asyncio
import io
import os
import urllib.request

import aioboto3
from checks import IS_TLS, MIB, ONE_AT_A_TIME, WHEN_REQUIRED
from checks import access_key, bucket, check, digest, end, endpoint, extended, sample, secret_key

data = sample(12 * MIB + 1)
session = aioboto3.Session(aws_access_key_id=access_key, aws_secret_access_key=secret_key, region_name="us-east-1")


def in_bucket(call):
    """What `call` returns of a client and the bucket as a resource."""

    async def do():
        async with session.client("s3", endpoint_url=endpoint) as client:
            async with session.resource("s3", endpoint_url=endpoint) as resource:
                return await call(client, await resource.Bucket(bucket))

    return asyncio.run(do())


async def put(client, there):
    await client.put_object(Bucket=bucket, Key="one", Body=b"bytes")
    return (await (await client.get_object(Bucket=bucket, Key="one"))["Body"].read()).decode()


async def parts(client, there):
    await client.upload_fileobj(io.BytesIO(data), bucket, "large")
    back = io.BytesIO()
    await client.download_fileobj(bucket, "large", back)
    return digest(back.getvalue())


async def listed(client, there):
    return sorted([each.key async for each in there.objects.all()])


async def linked(client, there):
    url = await client.generate_presigned_url("get_object", Params={"Bucket": bucket, "Key": "one"})
    return urllib.request.urlopen(url).read().decode()


async def emptied(client, there):
    await there.objects.all().delete()
    return [each["Key"] for each in (await client.list_objects_v2(Bucket=bucket)).get("Contents", [])]


if IS_TLS:
    extended("put by default", lambda: in_bucket(put), "bytes", WHEN_REQUIRED)
    os.environ.update([WHEN_REQUIRED.split("=")])
check("put", in_bucket(put), "bytes")
check("parts", in_bucket(parts), digest(data))
extended("bucket.objects", lambda: in_bucket(listed), ["large", "one"], "ListObjects is not supported")
extended("a link", lambda: in_bucket(linked), "bytes", "400")
extended("all deleted", lambda: in_bucket(emptied), [], "ListObjects is not supported")
end()
