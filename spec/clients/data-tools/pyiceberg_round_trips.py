"""pyiceberg with a catalog in SQLite."""

from checks import bucket, check, end, settings

catalog = settings("pyiceberg")["catalog"]
import pyarrow

rows = lambda first: pyarrow.table({"id": list(range(first, first + 100))})
catalog.create_namespace("n")
table = catalog.create_table("n.t", schema=rows(0).schema)
table.append(rows(0))
table.append(rows(100))
check("rows", table.scan(row_filter="id >= 50").to_arrow().num_rows, 150)
table.delete("id < 50")
check("after deletion", table.scan().to_arrow().num_rows, 150)
table.overwrite(rows(0))
check("after an overwrite", catalog.load_table("n.t").scan().to_arrow().num_rows, 100)
files = table.inspect.files()["file_path"].to_pylist()
store = table.io
check("files before the purge", [store.new_input(path).exists() for path in files], [True])
catalog.purge_table("n.t")
check("files after the purge", [store.new_input(path).exists() for path in files], [False])
end()
