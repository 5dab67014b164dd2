"""opendal."""

from checks import MIB, ONE_AT_A_TIME, check, digest, end, extended, sample, settings

store = settings("opendal")["store"]
data = sample(12 * MIB + 1)


def names():
    return sorted(entry.path for entry in store.list("deep/"))


def removed():
    store.remove_all("deep/")
    return names()


store.write("one", b"0123456789")
check("read", bytes(store.read("one")).decode(), "0123456789")
with store.open("deep/large", "wb") as out:
    out.write(data)
check("parts", digest(bytes(store.read("deep/large"))), digest(data))
store.copy("one", "deep/copy")
check("names", names(), ["deep/copy", "deep/large"])
extended("remove_all", removed, [], ONE_AT_A_TIME)
for name in names():
    store.delete(name)
check("deleted", names(), [])
end()
