"""
What the round trips share: they print one JSON object a line, of what was looked at, what came, what should have come.
They run against a server as it is by default with the settings of the page, and against one with everything of
`s3.extensions` with the defaults of the tool.
"""

import hashlib
import json
import pathlib
import re
import sys

endpoint, access_key, secret_key, bucket, mode = sys.argv[1:6]
IS_TLS = endpoint.startswith("https:")
EXTENDED = {"extended": True, "default": False}[mode]
PAGE = pathlib.Path(__file__).parent.parent.parent / "manual" / "clients" / "data-tools.md"
MIB = 1024**2
# The end of lines of an example that a server with the extensions makes needless.
NEEDLESS = "# without extensions"
# What the messages of refusals must show to whoever uses the tool.
WHEN_REQUIRED = "AWS_REQUEST_CHECKSUM_CALCULATION=when_required"
ONE_AT_A_TIME = "delete objects one at a time"


def example(tool, language):
    """The example below the heading of a tool on the page."""
    section = re.search(r"^### %s\n(.*?)(?=^##|\Z)" % re.escape(tool), PAGE.read_text(), re.M | re.S)
    lines = re.search(r"```%s\n(.*?)```" % language, section[1], re.S)[1].splitlines()
    return "\n".join(line for line in lines if not (EXTENDED and NEEDLESS in line))


def settings(tool):
    """The names that the Python example of a tool on the page sets. It is run as it is there."""
    names = {"endpoint": endpoint, "access_key": access_key, "secret_key": secret_key, "bucket": bucket}
    exec(example(tool, "python"), names)
    return names


def check(name, got, expected):
    print(json.dumps({"name": name, "got": got, "expected": expected}))


def refused(name, call, *words):
    """What must fail, with these words in what it says."""
    try:
        call()
    except Exception as error:
        said = "%s %s" % (error, error.__cause__)
        check(name, [word if word.lower() in said.lower() else said for word in words], list(words))
    else:
        check(name, "no error", list(words))


def extended(name, call, expected, *words):
    """What the extensions are for: with them the call returns this, without them it fails with these words."""
    if EXTENDED:
        check(name, call(), expected)
    else:
        refused(name, call, *words)


def sample(count):
    """Bytes of which no two runs of eight are the same."""
    return b"".join(index.to_bytes(8, "big") for index in range(count // 8 + 1))[:count]


def digest(data):
    return hashlib.sha256(data).hexdigest()


def end():
    """The last line: a script without it broke off."""
    check("end", True, True)
