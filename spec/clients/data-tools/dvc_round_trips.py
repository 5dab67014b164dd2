"""DVC with its remote in the store: push, pull into a clean work tree, and the removal of what nothing refers to."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from checks import EXTENDED, MIB, ONE_AT_A_TIME, WHEN_REQUIRED
from checks import access_key, bucket, check, digest, end, endpoint, example, sample, secret_key

place = pathlib.Path(tempfile.mkdtemp())
environment = {**os.environ, "DVC_NO_ANALYTICS": "1", "DVC_SITE_CACHE_DIR": str(place / "site")}
if not EXTENDED:
    environment.update([WHEN_REQUIRED.split("=")])
tree = place / "tree"
tree.mkdir()


def dvc(*words):
    """What it says, after its exit code."""
    command = [sys.executable, "-m", "dvc", *words]
    done = subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def works(*words):
    code, said = dvc(*words)
    check(" ".join(words), [code, said if code else ""], [0, ""])


def held(path):
    return {file.name: digest(file.read_bytes()) for file in path.iterdir()}


works("init", "--no-scm")
configuration = example("DVC", "ini").replace("http://127.0.0.1:7600", endpoint).replace("first/", bucket + "/")
configuration = configuration.replace("ACCESS_KEY", access_key).replace("SECRET_KEY", secret_key)
(tree / ".dvc" / "config").write_text(configuration.replace("[core]", "[core]\n    no_scm = true\n    check_update = false"))
data = tree / "data"
data.mkdir()
# In parts, and small ones.
(data / "large").write_bytes(sample(60 * MIB + 1))
for name in ["one", "two"]:
    (data / name).write_text(name)
first = held(data)
works("add", "data")
works("push")
for path in [data, tree / ".dvc" / "cache"]:
    shutil.rmtree(path)
works("pull")
check("what was pulled", held(data), first)
(data / "one").unlink()
(data / "two").write_text("another two")
second = held(data)
works("add", "data")
works("push")
code, said = dvc("gc", "--workspace", "--cloud", "--force")
check("gc", [code == 0, EXTENDED or ONE_AT_A_TIME in said.lower() or said], [EXTENDED, True])
for path in [data, tree / ".dvc" / "cache"]:
    shutil.rmtree(path)
works("pull")
check("what is left after gc", held(data), second)
code, said = dvc("status", "--cloud")
check("status", code, 0)
shutil.rmtree(place)
end()
