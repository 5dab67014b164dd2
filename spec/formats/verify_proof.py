#!/usr/bin/env python3
"""Verifies proof bundles with nothing but proof-bundle.md and Python's standard library.

    python3 verify_proof.py [--public-key HEX] <file> <bundle> [another bundle]...
    python3 verify_proof.py --canonical <bundle> [another bundle]...

Prints one JSON object for each bundle: its verdict and every check. Ends with 0 when all are verified, 1 when one
failed, 2 when none failed and one is not proved. With --canonical it prints the bytes that are signed, in hexadecimal.
"""
import base64
import hashlib
import json
import os
import re
import struct
import sys

CHECKS = ("format", "format version", "signature", "key id", "deployment identity", "payload", "size",
          "checkpoint", "inclusion", "links", "anchor")
MUST_HOLD = CHECKS[:7]
REASONS = {
    "chain_not_enabled": "chain not enabled",
    "version_predates_chain": "version predates the chain",
    "not_yet_checkpointed": "not yet covered by a checkpoint",
}
BYTES_MAXIMUM = 16 * 1024 ** 2
PASSED, FAILED, NOT_PROVED = "passed", "failed", "not proved"


class Malformed(ValueError):
    """The document is not as the page says."""


# The document.

def once(pairs):
    if len(dict(pairs)) != len(pairs):
        raise Malformed("a member occurs twice")
    return dict(pairs)


def whole_number(digits):
    if len(digits) > 16 or not re.fullmatch("0|[1-9][0-9]*", digits) or int(digits) >= 2 ** 53:
        raise Malformed("no whole number below 2^53")
    return int(digits)


def refuse(_):
    raise Malformed("no whole number")


def parse(data):
    value = json.loads(data.decode("utf-8"), object_pairs_hook=once, parse_int=whole_number, parse_float=refuse,
                       parse_constant=refuse)
    json.dumps(value, ensure_ascii=False).encode("utf-8")  # refuses half of a surrogate pair
    return value


def text(value):
    if type(value) is not str:
        raise Malformed("no text")


def whole(value):
    if type(value) is not int:
        raise Malformed("no integer")


def time(value):
    text(value)
    microseconds(value)


def receipt(value):
    text(value)
    if not value.isascii() or base64.b64encode(base64.b64decode(value, validate=True)).decode() != value:
        raise Malformed("no base64")


def constant(expected):
    def check(value):
        if type(value) is not str or value != expected:
            raise Malformed(f"not {expected}")
    return check


def hexadecimal(size):
    def check(value):
        text(value)
        if not re.fullmatch("[0-9a-f]{%d}" % (2 * size), value):
            raise Malformed("no hexadecimal")
    return check


def record(**shape):
    """An object with these members; the names of optional ones end in an underscore."""
    def check(value):
        if type(value) is not dict:
            raise Malformed("no object")
        known = {name.rstrip("_"): (name.endswith("_"), checker) for name, checker in shape.items()}
        if not value.keys() <= known.keys():
            raise Malformed("an unknown member")
        for name, (optional, checker) in known.items():
            if name in value:
                checker(value[name])
            elif not optional:
                raise Malformed(f"{name} is missing")
    return check


def list_of(checker):
    def check(value):
        if type(value) is not list:
            raise Malformed("no list")
        for item in value:
            checker(item)
    return check


def one_of(*allowed):
    def check(value):
        if type(value) is not str or value not in allowed:
            raise Malformed("an unknown word")
    return check


HASH = hexadecimal(32)
UNAVAILABLE = record(status=constant("unavailable"), reason=one_of(*REASONS), detail=text)


def present_history(**more):
    return record(
        status=constant("present"),
        records=list_of(record(
            sequence=whole, timestamp=time, operation=text, principal=text, result=text, previous_hash=HASH,
            record_hash=HASH, **more,
            inclusion_path=record(index=whole, steps=list_of(record(side=one_of("left", "right"), hash=HASH))))),
        checkpoint=record(sequence=whole, from_sequence=whole, to_sequence=whole, leaf_count=whole, root=HASH,
                          previous_checkpoint_hash=HASH),
        anchor_=record(kind=text, receipt=receipt, asserted_at_=time),
    )


def bundle_form(**more):
    present = present_history(**more)

    def history(value):
        is_present = type(value) is dict and value.get("status") == "present"
        (present if is_present else UNAVAILABLE)(value)

    return record(
        format=constant("object-store.proof-bundle"),
        format_version=whole,
        object=record(bucket=text, key=text, version_id=text, size=whole, created_at=time, content_type_=text),
        payload=record(sha256=HASH),
        history=history,
        deployment=record(algorithm=constant("ed25519"), public_key=HASH, key_id=hexadecimal(8)),
        signature=record(algorithm=constant("ed25519"), canonical_version=whole, value=hexadecimal(64)),
    )


BUNDLES = {1: bundle_form(), 2: bundle_form(record=receipt)}

TIME = re.compile("([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2})(?:[.]([0-9]{1,6}))?"
                  "(?:Z|([+-])([0-9]{2}):([0-9]{2}))")


def microseconds(value):
    match = TIME.fullmatch(value)
    if not match:
        raise Malformed("no time")
    year, month, day, hour, minute, second = (int(part) for part in match.groups()[:6])
    fraction, sign, ahead_hours, ahead_minutes = match.groups()[6:]
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    lengths = (31, 29 if leap else 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
    ahead = (int(ahead_hours or 0), int(ahead_minutes or 0))
    if not (1 <= month <= 12 and 1 <= day <= lengths[month - 1] and hour < 24 and minute < 60 and second < 60):
        raise Malformed("no such time")
    if ahead[0] > 23 or ahead[1] > 59 or (sign == "-" and ahead == (0, 0)):
        raise Malformed("no such offset")
    days = 365 * year + (year + 3) // 4 - (year + 99) // 100 + (year + 399) // 400 - 719528
    days += sum(lengths[:month - 1]) + day - 1
    offset = (ahead[0] * 60 + ahead[1]) * (-1 if sign == "-" else 1)
    seconds = days * 86400 + hour * 3600 + (minute - offset) * 60 + second
    return seconds * 10 ** 6 + int((fraction or "").ljust(6, "0"))


# The canonical encoding.

def u(size, value):
    return value.to_bytes(size, "big")


def data(value):
    return u(4, len(value)) + value


def string(value):
    return data(value.encode("utf-8"))


def moment(value):
    return struct.pack(">q", microseconds(value))


def optional(value, encode):
    return b"\0" if value is None else b"\1" + encode(value)


def canonical(bundle):
    described, key = bundle["object"], bundle["deployment"]
    return b"".join([
        b"object-store/proof-bundle/v1", u(2, bundle["format_version"]), string(bundle["format"]), u(2, bundle["format_version"]),
        string(described["bucket"]), string(described["key"]), string(described["version_id"]),
        u(8, described["size"]), optional(described.get("content_type"), string), moment(described["created_at"]),
        string(bundle["payload"]["sha256"]), canonical_history(bundle["history"]),
        string(key["algorithm"]), string(key["public_key"]), string(key["key_id"]),
    ])


def canonical_history(value):
    if value["status"] == "unavailable":
        return b"\0" + string(REASONS[value["reason"]]) + string(value["detail"])
    checkpoint = value["checkpoint"]
    parts = [b"\1", u(4, len(value["records"]))] + [canonical_record(each) for each in value["records"]]
    parts += [u(8, checkpoint[name]) for name in ("sequence", "from_sequence", "to_sequence", "leaf_count")]
    parts += [string(checkpoint["root"]), string(checkpoint["previous_checkpoint_hash"])]
    parts.append(optional(value.get("anchor"), lambda anchor: string(anchor["kind"]) + string(anchor["receipt"])
                          + optional(anchor.get("asserted_at"), moment)))
    return b"".join(parts)


def canonical_record(value):
    path = value["inclusion_path"]
    parts = [u(8, value["sequence"]), moment(value["timestamp"])]
    parts += [string(value[name]) for name in ("operation", "principal", "result", "previous_hash", "record_hash")]
    parts += [string(value["record"])] if "record" in value else []
    parts += [u(8, path["index"]), u(4, len(path["steps"]))]
    parts += [u(1, step["side"] == "right") + data(bytes.fromhex(step["hash"])) for step in path["steps"]]
    return b"".join(parts)


# Ed25519: points are X, Y, Z, T with x = X/Z, y = Y/Z, x*y = T/Z.

P = 2 ** 255 - 19
ORDER = 2 ** 252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, P) % P
NEUTRAL = (0, 1, 1, 0)


def decode_point(encoded):
    number = int.from_bytes(encoded, "little")
    sign, y = number >> 255, number & (1 << 255) - 1
    if y >= P:
        return None
    square = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
    x = pow(square, (P + 3) // 8, P)
    if x * x % P != square:
        x = x * pow(2, (P - 1) // 4, P) % P
    if x * x % P != square or (x == 0 and sign):
        return None
    if x & 1 != sign:
        x = P - x
    return x, y, 1, x * y % P


def add(left, right):
    (x1, y1, z1, t1), (x2, y2, z2, t2) = left, right
    a, b = (y1 - x1) * (y2 - x2) % P, (y1 + x1) * (y2 + x2) % P
    c, d = 2 * t1 * t2 * D % P, 2 * z1 * z2 % P
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % P, g * h % P, f * g % P, e * h % P


def times(scalar, point):
    result = NEUTRAL
    for bit in bin(scalar)[2:]:
        result = add(result, result)
        if bit == "1":
            result = add(result, point)
    return result


def is_neutral(point):
    return point[0] % P == 0 and (point[1] - point[2]) % P == 0


BASE = decode_point((4 * pow(5, -1, P) % P).to_bytes(32, "little"))


def is_signed(signature, message, public_key):
    key, commitment = decode_point(public_key), decode_point(signature[:32])
    s = int.from_bytes(signature[32:], "little")
    if key is None or commitment is None or s >= ORDER or is_neutral(times(8, key)):
        return False
    challenge = int.from_bytes(hashlib.sha512(signature[:32] + public_key + message).digest(), "little") % ORDER
    left = times(s, BASE)
    x, y, z, t = add(commitment, times(challenge, key))
    return is_neutral(times(8, add(left, (-x % P, y, z, -t % P))))


# The tree.

def tree_hash(prefix, value):
    return hashlib.sha256(b"object-store/audit-merkle/v1" + bytes([prefix]) + value).digest()


def is_included(value, checkpoint):
    path = value["inclusion_path"]
    p, n, sides = path["index"], checkpoint["leaf_count"], []
    if p != value["sequence"] - checkpoint["from_sequence"] or p >= n:
        return False
    while n > 1:
        if p != n - 1 or n % 2 == 0:
            sides.append("left" if p % 2 else "right")
        p, n = p // 2, (n + 1) // 2
    if [step["side"] for step in path["steps"]] != sides:
        return False
    current = tree_hash(0, bytes.fromhex(value["record_hash"]))
    for step in path["steps"]:
        other = bytes.fromhex(step["hash"])
        current = tree_hash(1, other + current if step["side"] == "left" else current + other)
    return tree_hash(2, current).hex() == checkpoint["root"]


# The record itself, in format version 2.

RESULTS = ("attempted", "success", "denied", "failure")


def first_values(body, count):
    """The first values of an array in MessagePack: small numbers, texts and nil."""
    head = body[0]
    length, at = (int.from_bytes(body[1:3], "big"), 3) if head == 0xdc else (head & 15 if head >> 4 == 9 else 0, 1)
    if length < count:
        raise Malformed("too few values")
    values = []
    for _ in range(count):
        head = body[at]
        size = {0xd9: 1, 0xda: 2}.get(head)
        if head < 0x80:
            value, at = head, at + 1
        elif head == 0xc0:
            value, at = None, at + 1
        elif head >> 5 == 5 or size is not None:
            begin = at + 1 + (size or 0)
            end = begin + (int.from_bytes(body[at + 1:begin], "big") if size else head & 31)
            if end > len(body):
                raise Malformed("a text ends after the record")
            value, at = body[begin:end].decode("utf-8"), end
        else:
            raise Malformed("another kind of value")
        values.append(value)
    return values


def is_record(value):
    """Whether what a bundle says of a record is in the bytes that its hash is of."""
    stored = base64.b64decode(value["record"])
    if len(stored) < 56:
        return False
    length, kind, body_version, sequence, at = struct.unpack(">IHHQq", stored[:24])
    if length != len(stored) - 56 or kind not in (3, 4) or body_version not in (1, 2) or length < 8 * (body_version - 1):
        return False
    body = stored[56:]
    if body_version == 2:
        # The time of the host, which is the timestamp, and then the body.
        at, body = int.from_bytes(body[:8], "big"), body[8:]
    try:
        result, principal, _, _, _, operation = first_values(body, 6)
    except (ValueError, IndexError):
        return False
    if type(result) is not int or result >= len(RESULTS):
        return False
    digest = hashlib.sha256(b"object-store/journal-record/v1".ljust(32, b"\0") + stored).hexdigest()
    said = (digest, sequence, at, RESULTS[result], principal, operation, stored[24:56].hex())
    return said == (value["record_hash"], value["sequence"], microseconds(value["timestamp"]), value["result"],
                    value["principal"], value["operation"], value["previous_hash"])


# The checks.

def holds(condition):
    return PASSED if condition else FAILED


def history_checks(value, version):
    bound = {"records": NOT_PROVED} if version == 2 else {}
    if value["status"] == "unavailable":
        return bound
    records, checkpoint = value["records"], value["checkpoint"]
    leaves = checkpoint["leaf_count"]
    span = checkpoint["to_sequence"] - checkpoint["from_sequence"] + 1
    ordered = sorted(records, key=lambda each: each["sequence"])
    pairs = list(zip(ordered, ordered[1:]))
    adjacent = [pair for pair in pairs if pair[1]["sequence"] - pair[0]["sequence"] == 1]
    twice = any(one["sequence"] == other["sequence"] for one, other in pairs)
    broken = any(later["previous_hash"] != earlier["record_hash"] for earlier, later in adjacent)
    included = holds(all(is_included(each, checkpoint) for each in records))
    linked = holds(not twice and not broken)
    if version == 2 and records:
        bound["records"] = holds(all(is_record(each) for each in records))
    return {
        **bound,
        "checkpoint": holds(leaves != 0 and leaves == span),
        "inclusion": included if records else NOT_PROVED,
        "links": linked if adjacent or twice else NOT_PROVED,
    }


def signature_check(bundle):
    version = bundle["signature"]["canonical_version"]
    if version != bundle["format_version"]:
        return NOT_PROVED if version > bundle["format_version"] else FAILED
    value, key = bundle["signature"]["value"], bundle["deployment"]["public_key"]
    return holds(is_signed(bytes.fromhex(value), canonical(bundle), bytes.fromhex(key)))


def read_bundle(encoded):
    """The bundle, or None when its format version is a later one."""
    if len(encoded) > BYTES_MAXIMUM:
        raise Malformed("too long")
    value = parse(encoded)
    if type(value) is not dict:
        raise Malformed("no object")
    constant("object-store.proof-bundle")(value.get("format"))
    whole(value.get("format_version"))
    version = value["format_version"]
    if version == 0:
        raise Malformed("no such version")
    if version > 2 or (version == 2 and not is_over_encoding_two(value.get("signature"))):
        return None
    BUNDLES[version](value)
    return value


def is_over_encoding_two(signature):
    return type(signature) is dict and type(signature.get("canonical_version")) is int and (
        signature["canonical_version"] == 2)


def verify(encoded, digest=None, size=None, public_key=None):
    """The verdict and the checks of a bundle, held against a file and a public key where there are some."""
    checks = dict.fromkeys(CHECKS, NOT_PROVED)
    bundle = None
    try:
        bundle = read_bundle(encoded)
        checks["format"] = PASSED
    except (ValueError, RecursionError):
        checks["format"] = FAILED
    if bundle is not None:
        key = bundle["deployment"]["public_key"]
        checks["format version"] = PASSED
        checks["signature"] = signature_check(bundle)
        checks["key id"] = holds(bundle["deployment"]["key_id"] == hashlib.sha256(bytes.fromhex(key)).hexdigest()[:16])
        if public_key is not None:
            checks["deployment identity"] = holds(key == public_key.lower())
        if digest is not None:
            checks["payload"] = holds(digest == bundle["payload"]["sha256"])
            checks["size"] = holds(size == bundle["object"]["size"])
        checks.update(history_checks(bundle["history"], bundle["format_version"]))
    must_hold = set(MUST_HOLD)
    if bundle is not None and bundle["history"]["status"] == "present":
        must_hold |= {"checkpoint", "inclusion"} | ({"records"} if bundle["format_version"] == 2 else set())
    if FAILED in checks.values():
        return FAILED, checks
    return ("verified" if all(checks[name] == PASSED for name in must_hold) else NOT_PROVED), checks


def file_digest(path):
    state = hashlib.sha256()
    with open(path, "rb") as file:
        for piece in iter(lambda: file.read(1 << 20), b""):
            state.update(piece)
    return state.hexdigest(), os.path.getsize(path)


def read(path):
    with open(path, "rb") as file:
        return file.read(BYTES_MAXIMUM + 1)


def main(words):
    public_key = None
    if words[:1] == ["--canonical"]:
        for path in words[1:]:
            print(canonical(read_bundle(read(path))).hex())
        return 0
    if words[:1] == ["--public-key"]:
        public_key, words = words[1], words[2:]
    if len(words) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    digest, size = file_digest(words[0])
    verdicts = set()
    for path in words[1:]:
        verdict, checks = verify(read(path), digest, size, public_key)
        verdicts.add(verdict)
        print(json.dumps({"bundle": os.path.basename(path), "verdict": verdict, "checks": checks}))
    return 1 if FAILED in verdicts else 2 if NOT_PROVED in verdicts else 0


def judged(words):
    """The exit code. What this program does not foresee is a verdict as well."""
    try:
        return main(words)
    except OSError as error:
        print(error)
    except (Exception, RecursionError, MemoryError) as error:
        print(f"damaged: {type(error).__name__}: {error}")
    return 1


if __name__ == "__main__":
    sys.stdout.reconfigure(errors="backslashreplace")
    sys.exit(judged(sys.argv[1:]))
