#!/usr/bin/env python3
"""Verifies checkpoints of a log and proofs that lead to them, with nothing but checkpoints.md and Python's standard library.

    python3 verify_checkpoint.py [--key VKEY [--handovers handovers.txt]] [--policy policy.txt] checkpoint.txt
        [--old earlier.txt --consistency proof.txt]
        [--inclusion proof.txt --record HASH]

Prints one line for each check: passed, failed or not proved. Ends with 0 when all passed, with 1 when one failed or a file has
another form, with 2 when none failed and the key is missing. `verify_proof.py` must be beside it: Ed25519 is there.
"""
import argparse
import base64
import hashlib
import re
import sys

sys.dont_write_bytecode = True
from verify_proof import is_signed

BYTES_MAXIMUM = 256 << 10
NOTE_MAXIMUM, PROOF_MAXIMUM, SIGNATURES_MAXIMUM = 64 << 10, 128 << 10, 100
ED25519, COSIGNER = b"\x01", b"\x04"
HANDOVER = "object-store checkpoint key handover v1"
PASSED, FAILED, NOT_PROVED = "passed", "failed", "not proved"


class Malformed(ValueError):
    """A text does not have its form."""


def plain_base64(digits, size=None):
    """Bytes of standard base64 with padding and no stray bits, of this many bytes where it is said."""
    try:
        data = base64.b64decode(digits, validate=True)
    except ValueError as error:
        raise Malformed("no base64") from error
    if base64.b64encode(data).decode() != digits or size not in (None, len(data)):
        raise Malformed("no base64 of this length")
    return data


# Notes (C2SP signed-note, tlog-checkpoint).

def number(digits):
    if not re.fullmatch(r"0|[1-9][0-9]{0,15}", digits) or int(digits) >= 1 << 53:
        raise Malformed("no number")
    return int(digits)


def key_id(name, public_key, kind=ED25519):
    return hashlib.sha256(name.encode() + b"\n" + kind + public_key).digest()[:4]


def read_key(text, kind=ED25519):
    """Name and public key of NAME+ID+KEY."""
    form = re.fullmatch(r"([^\s+]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/]+=*)", text.strip())
    if not form:
        raise Malformed("the key is not NAME+ID+KEY")
    name, identity, digits = form.groups()
    data = plain_base64(digits, 33)
    if data[:1] != kind or key_id(name, data[1:], kind).hex() != identity:
        raise Malformed("the id of the key is that of another key")
    return name, data[1:]


def write_key(name, public_key):
    return f"{name}+{key_id(name, public_key).hex()}+{base64.b64encode(ED25519 + public_key).decode()}"


def read_signatures(lines):
    """Name, key id and signature of each line of signature."""
    found = lines.split("\n")
    if len(found) > SIGNATURES_MAXIMUM:
        raise Malformed("too many signatures")
    return [Checkpoint.signature(line) for line in found]


def signs(signatures, text, name, public_key):
    """Other keys are passed over, and a false signature of this one counts against the whole note (C2SP signed-note)."""
    own = {value for who, which, value in signatures if (who, which) == (name, key_id(name, public_key))}
    return bool(own) and all(len(value) == 64 and is_signed(value, text, public_key) for value in own)


# Hand-overs of the key.

def handover_text(origin, size, root, old, new):
    """What both keys sign."""
    lines = [HANDOVER, origin, str(size), base64.b64encode(root).decode(), write_key(origin, old), write_key(origin, new)]
    return "".join(f"{line}\n" for line in lines).encode()


def read_handovers(text):
    """Origin, size, old and new key of each note, once both keys have signed it."""
    if not text:
        return []
    parts, found = text.split("\n\n"), []
    if len(parts) % 2 or not text.endswith("\n"):
        raise Malformed("no hand-overs")
    for signed, signatures in zip(parts[::2], parts[1::2]):
        lines = signed.split("\n")
        if len(lines) != 6 or lines[0] != HANDOVER:
            raise Malformed("no hand-overs")
        origin, size, root = lines[1], number(lines[2]), plain_base64(lines[3], 32)
        if size == 0:
            raise Malformed("no hand-overs")
        (old_name, old), (new_name, new) = read_key(lines[4]), read_key(lines[5])
        read = read_signatures(signatures.removesuffix("\n"))
        if (old_name, new_name) != (origin, origin) or handover_text(origin, size, root, old, new) != f"{signed}\n".encode():
            raise Malformed("a hand-over with a key of another log")
        if not all(signs(read, f"{signed}\n".encode(), origin, key) for key in (old, new)):
            raise Malformed("a hand-over is not signed by both keys")
        found.append((origin, size, old, new))
    return found


def key_for_size(verifier, size, handovers):
    """The key that signs checkpoints of a size: none signs beyond the checkpoint at which it handed over."""
    name, key = verifier
    had = {key}
    while True:
        after = {(where, new) for origin, where, old, new in handovers if (origin, old) == (name, key)}
        if len({new for _, new in after}) > 1:
            raise Malformed("a key handed over to two keys: somebody else has it")
        if not after:
            return name, key
        where, new = min(after)
        if new in had:
            raise Malformed("a hand-over goes back to an old key")
        had.add(new)
        if where >= size:
            return name, key
        key = new


class Checkpoint:
    """A note: origin, size, root, what is signed, and by whom."""

    def __init__(self, text):
        signed, split, signatures = text.rpartition("\n\n")
        if not split or not signatures.endswith("\n") or len(text.encode()) > NOTE_MAXIMUM:
            raise Malformed("the text is not a checkpoint")
        if any(one < " " and one != "\n" for one in text):
            raise Malformed("a control character")
        self.text = signed + "\n"
        lines = signed.split("\n")
        if len(lines) < 3 or "" in lines:
            raise Malformed("a checkpoint has origin, size and root")
        self.origin, self.size, self.root = lines[0], number(lines[1]), plain_base64(lines[2], 32)
        self.signatures = read_signatures(signatures[:-1])

    @staticmethod
    def signature(line):
        form = re.fullmatch("\u2014 ([^\\s\ufeff+]+) ([A-Za-z0-9+/]+=*)", line)
        data = plain_base64(form.group(2)) if form else b""
        if len(data) <= 4:
            raise Malformed("a line of signature")
        return form.group(1), data[:4], data[4:]

    def is_signed_by(self, name, public_key):
        """Signatures of other keys are passed over."""
        return self.origin == name and signs(self.signatures, self.text.encode(), name, public_key)

    def is_cosigned_by(self, name, public_key):
        """C2SP tlog-cosignature: time in 8 bytes, and a signature over the time and the text. A false one spoils the others."""
        identity = key_id(name, public_key, COSIGNER)
        values = {value for who, which, value in self.signatures if (who, which) == (name, identity)}
        return bool(values) and all(self.holds(value, public_key) for value in values)

    def holds(self, value, public_key):
        seconds = int.from_bytes(value[:8], "big")
        message = f"cosignature/v1\ntime {seconds}\n{self.text}".encode()
        return len(value) == 72 and 0 < seconds < 1 << 53 and is_signed(value[8:], message, public_key)


# Policies (C2SP tlog-policy).

def has_quorum(policy, note):
    """Whether the witnesses that a policy asks for have cosigned. A name counts when it is in `met`."""
    known, members, keys, met, quorum = {"none"}, set(), set(), {"none"}, None
    for line in policy.split("\n"):
        words = [word for word in re.split("[ \t]+", line) if word]
        if not words or words[0].startswith("#") or words[0] == "log":
            continue
        kind, name, *rest = words + [""]
        rest = rest[:-1]
        if kind == "quorum" and quorum is None and name in known and not rest:
            quorum = name
            continue
        if kind not in ("witness", "group") or name in known | {""} or not rest:
            raise Malformed(f"a line of the policy: {line}")
        if kind == "witness":
            key = read_key(rest[0], COSIGNER)
            if key[1] in keys:
                raise Malformed("two witnesses have one key")
            keys.add(key[1])
            is_met = note.is_cosigned_by(*key)
        else:
            count, *of = rest
            threshold = {"all": len(of), "any": 1}.get(count) or number(count)
            if len(set(of)) < len(of) or set(of) & members or not set(of) <= known - {"none"} or not 1 <= threshold <= len(of):
                raise Malformed(f"a line of the policy: {line}")
            members |= set(of)
            is_met = len(set(of) & met) >= threshold
        known.add(name)
        if is_met:
            met.add(name)
    if quorum is None:
        raise Malformed("the policy has no quorum")
    return quorum in met


# The two trees. Both have the shape of RFC 6962.

class Tree:
    """Leaves one after another, of which only the tops of complete subtrees are kept."""

    def __init__(self, domain=b"", hashes_root=False):
        self.domain, self.hashes_root = domain, hashes_root
        self.size, self.tops = 0, []

    def hash(self, prefix, data):
        return hashlib.sha256(self.domain + prefix + data).digest()

    def append(self, entry):
        top, size = self.hash(b"\0", entry), self.size
        while size % 2:
            top, size = self.hash(b"\1", self.tops.pop() + top), size // 2
        self.tops.append(top)
        self.size += 1

    def root(self):
        apex = self.tops[-1]
        for top in reversed(self.tops[:-1]):
            apex = self.hash(b"\1", top + apex)
        return self.hash(b"\2", apex) if self.hashes_root else apex

    def inclusion_root(self, entry, index, size, path):
        """RFC 9162 section 2.1.3.2; None when the path has not the length of one."""
        if index >= size:
            return None
        current, last, rest = self.hash(b"\0", entry), size - 1, list(path)
        while last:
            if index % 2 or index < last:
                if not rest:
                    return None
                sibling = rest.pop(0)
                current = self.hash(b"\1", sibling + current if index % 2 else current + sibling)
            index, last = index // 2, last // 2
        return None if rest else current

    def is_consistent(self, old_size, old_root, size, root, path):
        """RFC 9162 section 2.1.4.2."""
        if not 1 <= old_size <= size:
            return False
        if old_size == size:
            return not path and old_root == root
        index, last, rest = old_size - 1, size - 1, list(path)
        while index % 2:
            index, last = index // 2, last // 2
        if index and not rest:
            return False
        before = after = rest.pop(0) if index else old_root
        for sibling in rest:
            if last == 0:
                return False
            if index % 2 or index == last:
                before, after = self.hash(b"\1", sibling + before), self.hash(b"\1", sibling + after)
                while index % 2 == 0 and index:
                    index, last = index // 2, last // 2
            else:
                after = self.hash(b"\1", after + sibling)
            index, last = index // 2, last // 2
        return last == 0 and (before, after) == (old_root, root)


def log_tree():
    """The tree of transparency logs."""
    return Tree()


def bundle_tree():
    """The tree of proof bundles."""
    return Tree(b"object-store/audit-merkle/v1", True)


# Proofs (C2SP tlog-proof, and the body of a request to a witness).

def read_proof(text, head, word):
    """Number, path, and the checkpoint that it leads to."""
    before, split, note = text.partition("\n\n")
    lines = before.split("\n")
    if len(text) > PROOF_MAXIMUM:
        raise Malformed("the text is too long")
    if not split or lines[:len(head)] != head or len(lines) <= len(head) or len(lines) > len(head) + 64:
        raise Malformed("the text is not a proof of this kind")
    label, _, digits = lines[len(head)].partition(" ")
    if label != word:
        raise Malformed("the text is not a proof of this kind")
    return number(digits), [plain_base64(line, 32) for line in lines[len(head) + 1:]], Checkpoint(note)


def read_inclusion(text):
    return read_proof(text, ["c2sp.org/tlog-proof@v1"], "index")


def read_consistency(text):
    return read_proof(text, [], "old")


def verify(checkpoint, key=None, old=None, consistency=None, inclusion=None, record=None, policy=None, handovers=""):
    """Checks by name. Texts of files; `record`: a hash of 32 bytes. Raises Malformed."""
    note, checks, tree = Checkpoint(checkpoint), {}, log_tree()
    verifier = read_key(key) if key else None
    chain = read_handovers(handovers)

    def signed(one):
        if verifier is None:
            return NOT_PROVED
        return PASSED if one.is_signed_by(*key_for_size(verifier, one.size, chain)) else FAILED

    checks["signature"] = signed(note)
    if policy is not None:
        checks["witnesses"] = PASSED if has_quorum(policy, note) else FAILED
    if old is not None:
        earlier, (size, path, target) = Checkpoint(old), read_consistency(consistency)
        right = (size, target.text) == (earlier.size, note.text) and earlier.origin == note.origin
        holds = right and tree.is_consistent(size, earlier.root, note.size, note.root, path)
        checks["signature of the earlier one"] = signed(earlier)
        checks["extends"] = PASSED if holds else FAILED
    if inclusion is not None:
        index, path, target = read_inclusion(inclusion)
        root = tree.inclusion_root(record, index, note.size, path)
        checks["inclusion"] = PASSED if target.text == note.text and root == note.root else FAILED
    return checks


def read(path):
    with open(path, "rb") as file:
        data = file.read(BYTES_MAXIMUM + 1)
    if len(data) > BYTES_MAXIMUM:
        raise Malformed(f"{path} is too long")
    return data.decode()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkpoint")
    for name in ("key", "handovers", "policy", "old", "consistency", "inclusion", "record"):
        parser.add_argument(f"--{name}")
    given = parser.parse_args()
    if (given.old is None) != (given.consistency is None) or (given.inclusion is None) != (given.record is None):
        parser.error("--old and --consistency belong together, and --inclusion and --record")
    try:
        paths = (given.old, given.consistency, given.inclusion, given.policy)
        old, consistency, inclusion, policy = (path and read(path) for path in paths)
        handovers = read(given.handovers) if given.handovers else ""
        record = given.record and bytes.fromhex(given.record)
        checks = verify(read(given.checkpoint), given.key, old, consistency, inclusion, record, policy, handovers=handovers)
    except (ValueError, OSError) as error:
        print(f"failed: {error}")
        return 1
    except (Exception, RecursionError, MemoryError) as error:
        print(f"damaged: {type(error).__name__}: {error}")
        return 1
    for name, result in checks.items():
        print(f"{name}: {result}")
    if FAILED in checks.values():
        return 1
    return 2 if NOT_PROVED in checks.values() else 0


if __name__ == "__main__":
    sys.stdout.reconfigure(errors="backslashreplace")
    sys.exit(main())
