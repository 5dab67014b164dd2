"""pyiceberg with a catalog in SQLite, through pyarrow, which is its default, and through fsspec."""

from checks import EXTENDED, bucket, check, end, settings

catalog = settings("pyiceberg")["catalog"]
import pyarrow
from pyiceberg.catalog.sql import SqlCatalog

rows = lambda first: pyarrow.table({"id": list(range(first, first + 100))})


def ids(table, **more):
    return sorted(table.scan(**more).to_arrow()["id"].to_pylist())


def is_purged(catalog, name):
    """Whether the purge of a table took a data file and the metadata along; both are there before."""
    table = catalog.load_table(name)
    files = [*table.inspect.files()["file_path"].to_pylist(), table.metadata_location]
    check("before the purge of " + name, [table.io.new_input(path).exists() for path in files], [True, True])
    catalog.purge_table(name)
    return [not table.io.new_input(path).exists() for path in files]


catalog.create_namespace("n")
table = catalog.create_table("n.t", schema=rows(0).schema)
table.append(rows(0))
table.append(rows(100))
check("rows", ids(table, row_filter="id >= 50"), list(range(50, 200)))
table.delete("id < 50")
check("after deletion", ids(table), list(range(50, 200)))
table.overwrite(rows(0))
check("after an overwrite", ids(catalog.load_table("n.t")), list(range(100)))
check("purge", is_purged(catalog, "n.t"), [True, True])
by_fsspec = SqlCatalog("fsspec", **catalog.properties, **{"py-io-impl": "pyiceberg.io.fsspec.FsspecFileIO"})
by_fsspec.create_namespace("f")
by_fsspec.create_table("f.t", schema=rows(0).schema).append(rows(0))
# Without DeleteObjects it says nothing and leaves the files.
check("purge through fsspec", is_purged(by_fsspec, "f.t"), [EXTENDED, EXTENDED])
end()
