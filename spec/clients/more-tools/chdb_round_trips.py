"""ClickHouse as chdb: tables of files, and a MergeTree whose parts are on a disk in the store."""

import pathlib
import shutil
import tempfile

from chdb import session
from checks import access_key, bucket, check, end, endpoint, secret_key

place = pathlib.Path(tempfile.mkdtemp())
clickhouse = session.Session(str(place / "database"))
keys = "'%s', '%s'" % (access_key, secret_key)


def ask(question):
    return str(clickhouse.query(question, "CSV")).strip()


def file(name, form):
    return "s3('%s/%s/%s', %s, '%s')" % (endpoint, bucket, name, keys, form)


ask("INSERT INTO FUNCTION %s SELECT number AS id, repeat('x', 100) AS text FROM numbers(200000)" % file("one.parquet", "Parquet"))
check("Parquet", ask("SELECT count(), sum(id), min(length(text)) FROM %s" % file("one.parquet", "Parquet")), "200000,19999900000,100")
insert = "INSERT INTO FUNCTION %s PARTITION BY id %% 3 SELECT number AS id FROM numbers(30)"
ask(insert % file("parts/{_partition_id}.csv", "CSV").replace("'CSV'", "'CSV', 'id UInt64'"))
check("a glob", ask("SELECT count(), sum(id) FROM %s" % file("parts/*.csv", "CSV").replace("'CSV'", "'CSV', 'id UInt64'")), "30,435")
ask("INSERT INTO FUNCTION %s SELECT number AS id, randomString(1000) AS text FROM numbers(40000)" % file("large.native", "Native"))
check("parts", ask("SELECT count(), sum(id), sum(length(text)) FROM %s" % file("large.native", "Native")), "40000,799980000,40000000")
disk = "disk(type = s3, endpoint = '%s/%s/disk/', access_key_id = '%s', secret_access_key = '%s')"
disk = disk % (endpoint, bucket, access_key, secret_key)
ask("CREATE DATABASE d ENGINE = Atomic")
ask("CREATE TABLE d.t (id UInt64, text String) ENGINE = MergeTree ORDER BY id SETTINGS disk = %s" % disk)
for start in range(3):
    ask("INSERT INTO d.t SELECT number + %d, 'text' FROM numbers(1000)" % (start * 1000))
check("a table", ask("SELECT count(), sum(id) FROM d.t"), "3000,4498500")
ask("OPTIMIZE TABLE d.t FINAL")
ask("ALTER TABLE d.t UPDATE text = 'changed' WHERE id < 10 SETTINGS mutations_sync = 2")
check("a mutation", ask("SELECT countIf(text = 'changed'), count() FROM d.t"), "10,3000")
ask("DROP TABLE d.t SYNC")
clickhouse.close()
shutil.rmtree(place)
end()
