"""What a journal signs of itself, and what a reader kept of it: checkpoints, hand-overs, notes, and states of verifications.

Used by `verify_journal.py`, and written like it from journal.md and checkpoints.md alone. `verify_checkpoint.py` and
`verify_proof.py` must be beside it. It keeps 32 bytes of each of the last records, and of all before them the tops of two trees.
"""
import base64
import hashlib
import json
import os

from verify_checkpoint import Checkpoint, bundle_tree, handover_text, key_for_size, log_tree, read, write_key
from verify_proof import is_signed

HASH = 32
BLOCK = 256
LATE_MAXIMUM = 1 << 17
FAR_MAXIMUM = 1000
STATE = "object-store.verified-history"
STATE_SUFFIX = ".state"
NO_HASH = bytes(HASH)


class Refused(ValueError):
    """What was given with the journal is not what it must be."""


def read_note(path):
    """A checkpoint that was kept. Raises Refused, Malformed, OSError."""
    note = Checkpoint(read(path))
    if note.size == 0:
        raise Refused(f"{path} covers no record, and proves nothing")
    return note


class State:
    """Where a verification ended that came to a checkpoint: its last record, and the trees before that record."""

    def __init__(self, note, segment, last_record, tops, bundle_tops):
        self.note, self.segment, self.last_record = note, segment, last_record
        self.tops, self.bundle_tops = tops, bundle_tops

    @staticmethod
    def read(path, note):
        """The state of a note. Raises Refused for one of another checkpoint, OSError."""
        try:
            values = json.loads(read(path))
            if values["format"] != STATE or values["format_version"] != 1:
                raise Refused(f"{path} is not a state of format 1")
            tops, bundle_tops = ([hash_of(one) for one in values[name]] for name in ("tops", "bundle_tops"))
            last_record, segment, size = hash_of(values["last_record"]), values["segment"], values["size"]
        except (KeyError, TypeError, ValueError) as error:
            raise error if isinstance(error, Refused) else Refused(f"{path} has not the form of a state") from error
        whole = type(segment) is int and 0 <= segment < note.size and type(size) is int
        if not whole or not len(tops) == len(bundle_tops) == (note.size - 1).bit_count():
            raise Refused(f"{path} is not the state of this checkpoint: it has another size")
        state = State(note, segment, last_record, tops, bundle_tops)
        if (values.get("origin"), size) != (note.origin, note.size) or state.trees()[0].root() != note.root:
            raise Refused(f"{path} is not the state of this checkpoint: it does not hash to its root")
        return state

    def trees(self):
        """Both trees of the records that the checkpoint covers."""
        trees = log_tree(), bundle_tree()
        for tree, tops in zip(trees, (self.tops, self.bundle_tops)):
            tree.size, tree.tops = self.note.size - 1, list(tops)
            tree.append(self.last_record)
        return trees

    def write(self, path):
        values = {"format": STATE, "format_version": 1, "origin": self.note.origin, "size": self.note.size}
        values |= {"segment": self.segment, "last_record": self.last_record.hex()}
        values |= {"tops": [one.hex() for one in self.tops], "bundle_tops": [one.hex() for one in self.bundle_tops]}
        with open(f"{path}.part", "w", encoding="utf-8") as file:
            file.write(json.dumps(values) + "\n")
            file.flush()
            os.fsync(file.fileno())
        os.replace(f"{path}.part", path)


def hash_of(digits):
    data = bytes.fromhex(digits)
    if len(data) != HASH or data.hex() != digits:
        raise ValueError("no hash")
    return data


def append_block(tree, hashes):
    """Appends leaves to a tree, as many as a power of two, at a multiple of that: what `Tree.append` does, in less time."""
    leaf, node, size = tree.domain + b"\0", tree.domain + b"\1", tree.size // len(hashes)
    level = [hashlib.sha256(leaf + one).digest() for one in hashes]
    while len(level) > 1:
        level = [hashlib.sha256(node + left + right).digest() for left, right in zip(level[::2], level[1::2])]
    top = level[0]
    while size % 2:
        top, size = hashlib.sha256(node + tree.tops.pop() + top).digest(), size // 2
    tree.tops.append(top)
    tree.size += len(hashes)


class History:
    """The trees over the records of a journal, from the first one or from a state on, and what entries say of them."""

    def __init__(self, journal, note=None, since=None, key=None):
        self.journal, self.note, self.since, self.key = journal, note, since, key
        self.start = since.note.size if since else 0
        self.log, self.bundle = since.trees() if since else (log_tree(), bundle_tree())
        self.late, self.far, self.unchecked = bytearray(), [], 0
        self.kept_root = self.kept_tops = self.kept_place = None
        self.last, self.key_now, self.generation, self.had = None, None, None if since else 0, set()
        self.named, self.handovers = None, []
        self.is_broken, self.extends = False, None
        # The key that signed the note of the state signs what comes after it, until it hands over.
        self.signer = key[1] if since and key and since.note.is_signed_by(*key) else None
        if since and note and note.size == since.note.size:
            self.kept_root = self.log.root()

    # The trees.

    @property
    def size(self):
        """Records in the trees, or waiting to be."""
        return self.log.size + len(self.late) // HASH

    def record(self, sequence, stated, segment):
        """Takes the hash of a record. One that does not follow ends the trees: nothing after it has a root."""
        if self.since and sequence == self.start - 1 and stated != self.since.last_record:
            self.journal.problem("rewritten since a checkpoint", f"the state has another record {sequence}", 0, sequence)
        if sequence < self.start or self.is_broken:
            return
        if sequence != self.size:
            self.is_broken = True
            return
        if self.note and sequence == self.note.size - 1:
            self.kept_place = segment, stated
        self.late += stated
        if len(self.late) >= 2 * LATE_MAXIMUM * HASH:
            self.advance(self.log.size + LATE_MAXIMUM)

    def advance(self, size):
        """Puts records that wait into the trees, up to a size."""
        at = 0
        while self.log.size < size:
            if self.note and self.log.size == self.note.size - 1:
                self.kept_tops = list(self.log.tops), list(self.bundle.tops)
            holds_note = self.note and self.log.size < self.note.size <= self.log.size + BLOCK
            count = BLOCK if self.log.size % BLOCK == 0 and size - self.log.size >= BLOCK and not holds_note else 1
            stated = [bytes(self.late[place:place + HASH]) for place in range(at, at + count * HASH, HASH)]
            for tree in (self.log, self.bundle):
                append_block(tree, stated)
            at += count * HASH
            if self.note and self.log.size == self.note.size:
                self.kept_root = self.log.root()
        del self.late[:at]

    def roots(self, size):
        """Both roots at a size; None where the records cannot be read, were verified before, or are far back."""
        if not self.log.size <= size <= self.size or size == 0:
            return None
        self.advance(size)
        return self.log.root(), self.bundle.root()

    # Entries.

    def checkpoint(self, sequence, at, stated, size, root, bundle_root, previous, origin, key, signature):
        known = self.journal.is_known_at(sequence)
        if not known:
            self.last, self.key_now = None, None
        if self.key_now is None and known and sequence >= self.start:
            self.key_now = self.signer
        if self.key_now not in (None, key):
            self.journal.problem("checkpoint does not hold", f"of {size} records: nothing handed over to its key", at, sequence)
        self.key_now, self.named = key, (origin, size, root)
        self.had.add(key)
        before, linked = self.last or (-1, NO_HASH if known and not self.since else previous)
        text = f"{origin}\n{size}\n{base64.b64encode(root).decode()}\n".encode()
        right = before < size <= sequence and size > 0 and previous == linked and is_signed(signature, text, key)
        roots = self.roots(size) if right else None
        if not right or roots not in (None, (root, bundle_root)):
            self.journal.problem("checkpoint does not hold", f"of {size} records", at, sequence)
        elif roots is None and self.start < size < self.log.size:
            self.look_again((size, root, bundle_root, self.journal.name, at, sequence))
        self.last = sequence, stated

    def look_again(self, checkpoint):
        if len(self.far) < FAR_MAXIMUM:
            self.far.append(checkpoint)
        else:
            self.unchecked += 1

    def handover(self, sequence, at, origin, number, old, new, size, root, by_old, by_new):
        if not self.journal.is_known_at(sequence):
            self.key_now, self.generation, self.had, self.named = None, None, set(), None
        elif self.key_now is None and sequence >= self.start:
            self.key_now = self.signer
        text = handover_text(origin, size, root, old, new)
        fault = None
        if not is_signed(by_old, text, old) or not is_signed(by_new, text, new):
            fault = "it is not signed by both keys"
        elif (self.key_now != old and (self.key_now or not self.is_part(sequence)) or new in self.had or new == old
              or self.generation is not None and number != self.generation + 1):
            fault = "its keys or its generation do not follow"
        elif (origin, size, root) != self.named and (self.named or not self.is_part(sequence)):
            fault = "it does not name the checkpoint before it"
        if fault:
            self.journal.problem("hand-over does not hold", fault, at, sequence)
        else:
            self.handovers.append((origin, size, old, new))
        self.key_now, self.generation = new, number
        self.had |= {old, new}

    def is_part(self, sequence):
        """Whether what an entry follows may be in records that are not read, or not known."""
        return self.since is not None or not self.journal.is_known_at(sequence)

    # The end.

    def finish(self, paths):
        """Judges what waited for the end of the journal. `paths`: of its segments, in order."""
        if self.far:
            self.check_far(paths)
        if self.unchecked:
            self.journal.problem("checkpoint does not hold", f"{self.unchecked} of them cover far less than was before them", 0)
        self.advance(self.size)
        if self.since and self.journal.sequence < self.start:
            self.behind(self.since.note)
        elif self.note and self.journal.sequence < self.note.size:
            self.behind(self.note)
            self.extends = False
        elif self.note and self.kept_root is not None:
            self.extends = self.kept_root == self.note.root
            if not self.extends:
                self.journal.problem("rewritten since a checkpoint", "its first records have another root", 0, self.note.size - 1)

    def behind(self, note):
        self.journal.problem("rolled back behind a checkpoint", f"it covers {note.size} records", 0)

    def check_far(self, paths):
        """Reads all segments a second time, for checkpoints that cover far less than was before them."""
        wanted, trees = {}, self.since.trees() if self.since else (log_tree(), bundle_tree())
        for size, *claim in self.far:
            wanted.setdefault(size, []).append(claim)
        for sequence, stated in self.journal.hashes(paths):
            if sequence != trees[0].size:
                continue
            for tree in trees:
                tree.append(stated)
            for root, bundle_root, name, at, own in wanted.pop(sequence + 1, ()):
                if (root, bundle_root) != tuple(tree.root() for tree in trees):
                    self.journal.name = name
                    self.journal.problem("checkpoint does not hold", f"of {sequence + 1} records", at, own)
            if not wanted:
                return

    def signature(self, note):
        """None when a note is signed by the key, or by one that it handed over to; else what is wrong."""
        if self.key is None:
            return None
        verifier = self.key
        return None if note.is_signed_by(*key_for_size(verifier, note.size, self.handovers)) else "it is not signed by the key"

    def foreign(self, note):
        """What is wrong with the origin of a note: it names the deployment, or is that of the checkpoints."""
        deployment = (self.journal.deployment or b"").hex()
        own = not deployment or deployment in note.origin.split("/") or self.named and self.named[0] == note.origin
        return None if own else f"it is of another log: its origin is {note.origin}"

    def lines(self):
        """Head, root and key."""
        found = []
        if self.journal.sequence and self.journal.hash:
            found.append(f"head {self.journal.sequence - 1}:{self.journal.hash.hex()}")
        if not self.is_broken and self.log.size:
            found.append(f"root of {self.log.size} records: {base64.b64encode(self.log.root()).decode()}")
        if self.named and self.key_now:
            found.append(f"key {write_key(self.named[0], self.key_now)}")
        return found

    def state(self):
        """The state at the note, for the next verification; None without what it takes."""
        if self.since and self.note.size == self.since.note.size:
            return self.since
        if self.kept_place is None or self.kept_tops is None:
            return None
        return State(self.note, *self.kept_place, *self.kept_tops)
