"""
Writes the .txt of each .in here: every package with its version, and the SHA-256 of its wheels for Linux on x86-64 with glibc.
Python 3.11 decides the versions; the wheels for the later ones are those of the same versions.
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import zipfile

HERE = pathlib.Path(__file__).parent
VERSIONS = ["3.11", "3.12", "3.13"]
PLATFORMS = ["manylinux%s_x86_64" % name for name in ["1", "2010", "2014"] + ["_2_%d" % minor for minor in range(5, 37)]]
# What is required and has no wheels. DVC imports neither of the first two for what the specs try, and psycopg2-binary is the third.
WITHOUT_WHEELS = {"antlr4-python3-runtime": "4.9.3", "nanotime": "0.5.2", "psycopg2": "2.9.11"}


def write_stand_in(folder, name, version):
    """An empty wheel, so that pip can decide on all versions without building anything."""
    stem = "%s-%s" % (name.replace("-", "_"), version)
    with zipfile.ZipFile(folder / (stem + "-py3-none-any.whl"), "w") as wheel:
        wheel.writestr(stem + ".dist-info/METADATA", "Metadata-Version: 2.1\nName: %s\nVersion: %s\n" % (name, version))
        wheel.writestr(stem + ".dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(stem + ".dist-info/RECORD", "")


def wheels(version, *words):
    """Name, version and digest of what pip would install."""
    platforms = [word for name in PLATFORMS for word in ("--platform", name)]
    with tempfile.TemporaryDirectory() as target:
        for stand_in in WITHOUT_WHEELS.items():
            write_stand_in(pathlib.Path(target), *stand_in)
        how = ["--dry-run", "--quiet", "--ignore-installed", "--report", "-", "--target", target, "--only-binary", ":all:"]
        how += ["--find-links", target]
        command = [sys.executable, "-m", "pip", "install", *how, "--python-version", version, *platforms, *words]
        report = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    for row in report["install"]:
        name = row["metadata"]["name"].lower()
        if name not in WITHOUT_WHEELS:
            yield name, row["metadata"]["version"], row["download_info"]["archive_info"]["hashes"]["sha256"]


def lock(source):
    digests = {}
    for name, version, digest in wheels(VERSIONS[0], "--requirement", str(source)):
        digests["%s==%s" % (name, version)] = {digest}
    for later in VERSIONS[1:]:
        for name, version, digest in wheels(later, "--no-deps", *digests):
            digests["%s==%s" % (name, version)].add(digest)
    lines = ["# Made by lock_requirements.py."]
    for pinned in sorted(digests):
        lines.append(" \\\n".join([pinned, *("    --hash=sha256:" + digest for digest in sorted(digests[pinned]))]))
    source.with_suffix(".txt").write_text("\n".join(lines) + "\n")


for source in [pathlib.Path(name) for name in sys.argv[1:]] or sorted(HERE.glob("*.in")):
    lock(source)
