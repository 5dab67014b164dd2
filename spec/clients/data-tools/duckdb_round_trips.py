"""DuckDB with httpfs, which comes as a package here: nothing is fetched while it runs."""

import os
import pathlib

import duckdb
import duckdb_extension_httpfs
from checks import IS_TLS, ONE_AT_A_TIME, access_key, bucket, check, end, endpoint, example, extended, secret_key

database = duckdb.connect()
files = pathlib.Path(duckdb_extension_httpfs.__file__).parent.rglob("*.duckdb_extension")
database.execute("LOAD '%s'" % next(files))
secret = example("DuckDB", "sql").replace("ACCESS_KEY", access_key).replace("SECRET_KEY", secret_key)
secret = secret.replace("127.0.0.1:7600", endpoint.split("//")[1])
if IS_TLS:
    database.execute("SET ca_cert_file = '%s'" % os.environ["SSL_CERT_FILE"])
    secret = secret.replace("USE_SSL false", "USE_SSL true")
database.execute(secret)
there = "s3://%s/" % bucket
rows = "(SELECT range AS id, range %% 2 AS part FROM range(%d))"


def copy(count, target, *options):
    how = "(%s)" % ", ".join(options) if options else ""
    database.execute("COPY %s TO '%s' %s" % (rows % count, there + target, how))


def value(query):
    return database.execute(query).fetchone()[0]


copy(1000, "one.parquet")
check("Parquet", value("SELECT count(*) FROM '%sone.parquet'" % there), 1000)
copy(1000, "rows/one.csv")
copy(1000, "rows/two.csv")
check("a glob of CSV", value("SELECT count(*) FROM '%srows/*.csv'" % there), 2000)
partitioned = ["FORMAT parquet", "PARTITION_BY part"]
copy(1000, "set", *partitioned)
check("partitions", value("SELECT count(*) FROM '%sset/*/*.parquet' WHERE part = 1" % there), 500)


def overwritten():
    copy(7, "set", *partitioned, "OVERWRITE")
    return value("SELECT sum(id)::BIGINT FROM '%sset/*/*.parquet'" % there)


extended("OVERWRITE", overwritten, 21, ONE_AT_A_TIME)
copy(10, "set", *partitioned, "OVERWRITE_OR_IGNORE")
check("OVERWRITE_OR_IGNORE", value("SELECT count(*) FROM '%sset/*/*.parquet'" % there), 10)
copy(3_000_000, "large.csv")
check("parts", value("SELECT sum(id)::BIGINT FROM '%slarge.csv'" % there), sum(range(3_000_000)))
end()
