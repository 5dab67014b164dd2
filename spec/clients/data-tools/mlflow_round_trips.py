"""mlflow with a tracking store in SQLite and its artifacts in the store; the core that is published as mlflow-skinny."""

import os
import pathlib
import tempfile

from checks import MIB, ONE_AT_A_TIME
from checks import bucket, check, digest, end, extended, sample, settings

place = pathlib.Path(tempfile.mkdtemp())
os.environ["MLFLOW_DISABLE_TELEMETRY"] = "true"
os.environ["MLFLOW_TRACKING_URI"] = "sqlite:///%s" % (place / "runs.db")
settings("mlflow")
import mlflow
from click.testing import CliRunner
from mlflow.cli import cli
from mlflow.store.artifact.artifact_repository_registry import get_artifact_repository

client = mlflow.MlflowClient()
experiment = client.create_experiment("tried", artifact_location="s3://%s/runs" % bucket)
(place / "large").write_bytes(sample(60 * MIB + 1))
runs = []
for _ in range(2):
    run = client.create_run(experiment).info
    client.log_param(run.run_id, "a", "b")
    client.log_artifact(run.run_id, str(place / "large"), "models")
    client.log_text(run.run_id, "two lines\nof text", "notes.txt")
    runs.append(run)
kept, dropped = runs


def paths(run):
    listed = client.list_artifacts(run.run_id) + client.list_artifacts(run.run_id, "models")
    return sorted([file.path, file.file_size] for file in listed)


expected = [["models", None], ["models/large", 60 * MIB + 1], ["notes.txt", 17]]
check("artifacts", paths(kept), expected)
back = client.download_artifacts(kept.run_id, "models/large", str(place))
check("bytes", digest(pathlib.Path(back).read_bytes()), digest(sample(60 * MIB + 1)))
client.delete_run(dropped.run_id)


def collected():
    done = CliRunner().invoke(cli, ["gc", "--backend-store-uri", os.environ["MLFLOW_TRACKING_URI"], "--older-than", "0s"])
    if done.exit_code:
        raise RuntimeError(done.output) from done.exception
    return get_artifact_repository(dropped.artifact_uri).list_artifacts()


extended("gc", collected, [], ONE_AT_A_TIME)
check("what is left", paths(kept), expected)
end()
