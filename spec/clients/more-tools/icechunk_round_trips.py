"""icechunk: a repository of arrays with commits, two writers, branches and clean-up."""

import datetime

import icechunk
import numpy
import zarr
from checks import EXTENDED, IS_TLS, access_key, bucket, check, digest, end, endpoint, refused, secret_key

storage = icechunk.s3_storage(
    bucket=bucket,
    prefix="repository",
    endpoint_url=endpoint,
    access_key_id=access_key,
    secret_access_key=secret_key,
    region="us-east-1",
    allow_http=not IS_TLS,
    force_path_style=True,
)
repository = icechunk.Repository.create(storage)
data = numpy.arange(250_000, dtype="i4").reshape(500, 500)


def back(**where):
    return digest(zarr.open_group(repository.readonly_session(**where).store, mode="r")["a"][:].tobytes())


session = repository.writable_session("main")
array = zarr.group(session.store).create_array("a", shape=data.shape, chunks=(50, 50), dtype="i4")
array[:] = data
first = session.commit("first")
check("a commit", back(branch="main"), digest(data.tobytes()))
writers = [repository.writable_session("main") for _ in range(2)]
for writer in writers:
    zarr.open_group(writer.store)["a"][0, 0] = -1
writers[0].commit("one of two")
refused("the other of two", lambda: writers[1].commit("two of two"), "expected parent")
changed = data.copy()
changed[0, 0] = -1
check("the newest", back(branch="main"), digest(changed.tobytes()))
check("an old one", back(snapshot_id=first), digest(data.tobytes()))
repository.create_branch("other", first)
check("a branch", back(branch="other"), digest(data.tobytes()))
check("history", [each.message for each in repository.ancestry(branch="main")][:2], ["one of two", "first"])
repository.delete_branch("other")
later = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(days=1)
repository.expire_snapshots(later)
repository.garbage_collect(later)
check("collected", back(branch="main"), digest(changed.tobytes()))
again = icechunk.Repository.open(storage)
# Without batch deletion the branch stays, and nothing says so.
check("opened again", sorted(again.list_branches()), ["main"] if EXTENDED else ["main", "other"])
end()
