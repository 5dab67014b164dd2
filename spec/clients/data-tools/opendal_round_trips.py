"""opendal."""

from checks import MIB, ONE_AT_A_TIME, check, end, refused, settings

store = settings("opendal")["store"]
store.write("one", b"0123456789")
check("read", bytes(store.read("one")).decode(), "0123456789")
with store.open("deep/large", "wb") as out:
    out.write(b"x" * 12 * MIB)
check("parts", store.stat("deep/large").content_length, 12 * MIB)
store.copy("one", "deep/copy")
check("names", sorted(entry.path for entry in store.list("deep/")), ["deep/copy", "deep/large"])
refused("remove_all", lambda: store.remove_all("deep/"), ONE_AT_A_TIME)
for entry in store.list("deep/"):
    store.delete(entry.path)
check("deleted", [entry.path for entry in store.list("deep/")], [])
end()
