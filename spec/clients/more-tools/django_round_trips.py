"""django-storages as the storage of Django's files: saved, read, listed, linked and deleted."""

import os
import urllib.request

import django
from checks import EXTENDED, IS_TLS, MIB, WHEN_REQUIRED
from checks import access_key, bucket, check, digest, end, endpoint, extended, refused, sample, secret_key
from django.conf import settings
from django.core.files.base import ContentFile

if not EXTENDED and IS_TLS:
    os.environ.update([WHEN_REQUIRED.split("=")])
settings.configure(
    AWS_S3_ENDPOINT_URL=endpoint,
    AWS_ACCESS_KEY_ID=access_key,
    AWS_SECRET_ACCESS_KEY=secret_key,
    AWS_STORAGE_BUCKET_NAME=bucket,
    AWS_S3_REGION_NAME="us-east-1",
    STORAGES={
        "default": {"BACKEND": "storages.backends.s3.S3Storage"},
        "staticfiles": {"BACKEND": "storages.backends.s3.S3ManifestStaticStorage", "OPTIONS": {"location": "static"}},
    },
)
django.setup()
from django.core.files.storage import default_storage, storages


def read(name):
    with default_storage.open(name) as file:
        return digest(file.read())


data = sample(12 * MIB + 1)
check("saved", default_storage.save("a/one.txt", ContentFile(b"bytes")), "a/one.txt")
check("read", read("a/one.txt"), digest(b"bytes"))
check("saved again", default_storage.save("a/one.txt", ContentFile(b"another")), "a/one.txt")
check("read again", read("a/one.txt"), digest(b"another"))
kept = storages.create_storage({"BACKEND": "storages.backends.s3.S3Storage", "OPTIONS": {"file_overwrite": False}})
another = kept.save("a/one.txt", ContentFile(b"a third"))
check("a name that is taken", [another == "a/one.txt", read(another), read("a/one.txt")], [False, digest(b"a third"), digest(b"another")])
default_storage.save("large", ContentFile(data))
check("parts", [default_storage.size("large"), read("large")], [len(data), digest(data)])
with default_storage.open("written", "wb") as file:
    file.write(data)
check("written in parts", read("written"), digest(data))
check("exists", [default_storage.exists("large"), default_storage.exists("none")], [True, False])
extended("listdir", lambda: sorted(default_storage.listdir("")[0]), ["a"], "ListObjects is not supported")
extended("url", lambda: urllib.request.urlopen(default_storage.url("a/one.txt")).read().decode(), "another", "400")
signed = storages.create_storage({"BACKEND": "storages.backends.s3.S3Storage", "OPTIONS": {"signature_version": "s3v4"}})
check("url of version 4", urllib.request.urlopen(signed.url("a/one.txt")).read().decode(), "another")
public = storages.create_storage({"BACKEND": "storages.backends.s3.S3Storage", "OPTIONS": {"default_acl": "public-read"}})
refused("a public file", lambda: public.save("public", ContentFile(b"x")), "ACLs are not supported")
static = storages["staticfiles"]
static.save("site.css", ContentFile(b"a { color: red }"))
list(static.post_process({"site.css": (static, "site.css")}))
check("a static file", "site." in static.stored_name("site.css"), True)
for name in ["a/one.txt", another, "large", "written"]:
    default_storage.delete(name)
check("deleted", default_storage.exists("large"), False)
end()
