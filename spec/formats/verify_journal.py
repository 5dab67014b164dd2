#!/usr/bin/env python3
"""Verifies a journal with nothing but journal.md and Python's standard library.

    python3 verify_journal.py <data directory>/journal [another journal]...
    python3 verify_journal.py JOURNAL --checkpoint kept.txt --key NAME+ID+KEY [--keep-state]
    python3 verify_journal.py JOURNAL --since kept.txt [--checkpoint new.txt] --key NAME+ID+KEY [--keep-state]

Prints "intact N records" with the head, the root of the tree over them and the key of the log, and ends with 0; or prints what is
wrong and ends with 1. Ends with 3 when everything is right and some records are of kinds that this page does not have: a newer
version wrote the journal, and a newer verifier is needed.
It reads only, and it passes over the rest of a segment after the first thing that is wrong in its form. It is the page's proof of being complete.

--checkpoint: a note that was kept elsewhere; its records must be the first ones. --key: the key of the log, from elsewhere too.
--keep-state writes where the verification came to at that note into a file beside it, kept.txt.state. --since goes on from
there: it reads from the segment with the last record of the note on, and looks at nothing before it (checkpoints.md, "From a
checkpoint on"). The state must hash to the root of the note.

Its memory does not grow with the journal: a batch and a block of a cold segment, 32 bytes of each of the last 262,144 records,
and a million attempts without an outcome. Whatever is in the files, it ends with a verdict, and goes on with the next journal.
It has no master key, so it does not check the codes of changes of access (section "Access").
`verify_history.py`, `verify_checkpoint.py` and `verify_proof.py` must be beside it: trees and signatures are there.
"""
import argparse
import bisect
import hashlib
import os
import re
import struct
import sys
import zlib

sys.dont_write_bytecode = True
from verify_checkpoint import Malformed, read_key
from verify_history import STATE_SUFFIX, History, Refused, State, read_note

DOMAIN = b"object-store/journal-record/v1" + bytes(2)
SEGMENT = struct.Struct(">8sHHIQQQQ16s32s32s124sI")
BATCH = struct.Struct(">4sHHQQIIQ20sI")
RECORD = struct.Struct(">32sIHHQQ32s")
GENESIS, SEAL, CHANGE, AUDIT = 1, 2, 3, 4
SYSTEM_CHANGES = {5, 6, 7, 21, 35, 36, 37, 47, 52, 53, 54, 55, 62, 63, 73}
ACCESS_CHANGES = {*range(23, 34), 35, 37, *range(40, 44), 50, 51, *range(70, 74), *range(75, 79), 85}
KNOWN_CHANGES = {*range(1, 34), *range(35, 38), *range(39, 49), *range(50, 57), *range(60, 64), *range(70, 74), *range(75, 79), *range(80, 86)}
CHECKPOINT_SIGNED, KEY_ROTATED, KEY_CHANGED, CLOCK_SET_BACK = 47, 56, 37, 81
COLD_BLOCK = bytes.fromhex("1f8b08000000000000ff")
COLD_INDEX = bytes.fromhex("1f8b08040000000000ff")
COLD_END = bytes.fromhex("03000000000000000000")
PLAIN_MAXIMUM = 2 << 30
BATCH_MAXIMUM = 4 << 20
BLOCKS_MAXIMUM = 5458
PIECE = 1 << 20
DEPTH_MAXIMUM = 17
OPEN_MAXIMUM = 1_000_000
PROBLEMS_MAXIMUM = 1000
NEWER_MAXIMUM = 20
FORMAT_VERSION = 1
INTACT, DAMAGED, NEWER = 0, 1, 3
EXACT_MAXIMUM = (1 << 53) - 1
VERDICTS = "record is missing from the log", "damaged batch"


def exact(value):
    """A number as a whole one where it is one below 2^53, else as a float, which is no integer of the page."""
    if isinstance(value, float):
        return int(value) if value.is_integer() and abs(value) <= EXACT_MAXIMUM else value
    return value if abs(value) <= EXACT_MAXIMUM else float(value)


class Unpacker:
    """Reads the MessagePack of bodies: nil, flags, numbers, text, bytes and arrays."""

    NUMBERS = {0xCC: "B", 0xCD: "H", 0xCE: "I", 0xCF: "Q", 0xD0: "b", 0xD1: "h", 0xD2: "i", 0xD3: "q", 0xCA: "f", 0xCB: "d"}
    SIZES = {0xC4: "B", 0xC5: "H", 0xC6: "I", 0xD9: "B", 0xDA: "H", 0xDB: "I"}

    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, form):
        value = struct.unpack_from(">" + form, self.data, self.at)[0]
        self.at += struct.calcsize(form)
        return value

    def raw(self, length):
        if self.at + length > len(self.data):
            raise ValueError("cut off")
        self.at += length
        return bytes(self.data[self.at - length:self.at])

    def count(self):
        """Number of values of the array that begins here."""
        tag = self.take("B")
        if tag & 0xF0 == 0x90:
            return tag & 0x0F
        if tag not in (0xDC, 0xDD):
            raise ValueError("no array")
        return self.take("H" if tag == 0xDC else "I")

    def value(self, depth=0):
        if depth > DEPTH_MAXIMUM:
            raise ValueError("nested too deep")
        tag = self.take("B")
        if tag < 0x80:
            return tag
        if tag & 0xF0 == 0x90 or tag in (0xDC, 0xDD):
            self.at -= 1
            return [self.value(depth + 1) for _ in range(self.count())]
        if tag >= 0xE0:
            return tag - 256
        if tag in (0xC0, 0xC2, 0xC3):
            return {0xC0: None, 0xC2: False, 0xC3: True}[tag]
        if tag & 0xE0 == 0xA0:
            return self.raw(tag & 0x1F).decode(errors="replace")
        if tag in self.NUMBERS:
            return exact(self.take(self.NUMBERS[tag]))
        data = self.raw(self.take(self.SIZES[tag]))
        return data.decode(errors="replace") if tag >= 0xD9 else data


UNREADABLE = struct.error, KeyError, ValueError


def unpack(body):
    try:
        reader = Unpacker(body)
        value = reader.value()
        return value if reader.at == len(body) else None
    except UNREADABLE:
        return None


def is_whole(value):
    return type(value) is int and value >= 0


def read_entry(body, kind):
    """Values 0 to 8 of an entry, a digest of the bytes of 1 to 6, and where its changes begin; None for anything else."""
    reader, places, values = Unpacker(body), [], []
    try:
        if reader.take("B") != (0x9A if kind == CHANGE else 0x99):
            return None
        for _ in range(9):
            places.append(reader.at)
            values.append(reader.value(1))
    except UNREADABLE:
        return None
    result, principal, credential, address, request, operation, resource, intent, metadata = values
    texts = all(type(one) is str for one in (principal, operation, resource))
    maybe = all(one is None or type(one) is str for one in (credential, address, request))
    pairs = type(metadata) is list and len(metadata) % 2 == 0 and all(type(one) in (str, int, float) for one in metadata)
    right = is_whole(result) and result <= 3 and texts and maybe and (intent is None or is_whole(intent)) and pairs
    if not right or (kind == AUDIT and reader.at != len(body)):
        return None
    return values, hashlib.sha256(body[places[1]:places[7]]).digest()[:16], reader.at


def read_changes(body, at):
    """The changes that are the rest of a body; None when they do not have their form."""
    reader, changes = Unpacker(body), []
    reader.at = at
    try:
        for _ in range(reader.count()):
            changes.append(reader.value(2))
    except UNREADABLE:
        return None
    right = all(type(change) is list and change and type(change[0]) is int for change in changes)
    return changes if right and changes and reader.at == len(body) else None


def sets_back(body, kind, before, time):
    """Whether an entry sets the order time back between these times, and does nothing else."""
    read = read_entry(body, kind) if kind == CHANGE else None
    changes = read_changes(body, read[2]) if read else None
    return bool(changes) and len(changes) == 1 and changes[0][:3] == [CLOCK_SET_BACK, before, time]


def well_formed(header):
    _, version, flags, _, _, count, size, _, zeros, _ = header
    return version == 1 and flags <= 1 and not any(zeros) and count >= 1 and size % 8 == 0 and size + 72 <= BATCH_MAXIMUM


def cold_index(tail, size):
    """Of each block of a cold segment its length, that of its member and the CRC-32 of that; None without an index.

    `tail`: the end of a file of `size` bytes, as much of it as an index can take."""
    if size < 62 or tail[-10:] != COLD_END or tail[-18:-10] != b"OSTCOLD1":
        return None
    plain, count, checksum = struct.unpack(">QII", tail[-34:-18])
    start, length = len(tail) - 50 - 12 * count, 12 * count + 24
    if not 1 <= count <= BLOCKS_MAXIMUM or start < 0 or zlib.crc32(tail[start:-22]) != checksum:
        return None
    if tail[start:start + 16] != COLD_INDEX + struct.pack("<H2sH", length + 4, b"OJ", length):
        return None
    blocks = list(struct.iter_unpack(">III", tail[start + 16:-34]))
    right = all(1 <= block <= 1 << 20 and 21 <= member <= block + 1024 for block, member, _ in blocks)
    start += size - len(tail)
    whole = (sum(block for block, _, _ in blocks), sum(member for _, member, _ in blocks)) == (plain, start)
    return blocks if right and whole and plain <= PLAIN_MAXIMUM else None


def inflate(member, length, checksum):
    """The block in a member, or None when anything is wrong with it. Inflates one byte more than the block at most."""
    if zlib.crc32(member) != checksum:
        return None
    stream = zlib.decompressobj(-15)
    try:
        block = stream.decompress(member[10:-8], length + 1)
    except zlib.error:
        return None
    whole = stream.eof and not stream.unused_data and len(block) == length
    trailer = struct.pack("<II", zlib.crc32(block), length)
    return block if whole and member[:10] == COLD_BLOCK and member[-8:] == trailer else None


class Segment:
    """The bytes of a segment, plain or cold, of which only what is asked for is in memory."""

    def __init__(self, file):
        self.file, self.blocks, self.damaged, self.kept = file, None, [], (None, b"")
        self.size = os.fstat(file.fileno()).st_size
        self.is_cold = self.stored(0, 4) == COLD_BLOCK[:4]

    def stored(self, at, length):
        self.file.seek(at)
        return self.file.read(length)

    def open_cold(self):
        """False without an index. Inflates every block once, to tell which are damaged; those count as zeros."""
        index = min(self.size, 50 + 12 * BLOCKS_MAXIMUM)
        read = cold_index(self.stored(self.size - index, index), self.size)
        if read is None:
            return False
        self.blocks, self.starts, at, plain = [], [], 0, 0
        for length, size, checksum in read:
            self.starts.append(plain)
            self.blocks.append((at, length, size, checksum))
            if inflate(self.stored(at, size), length, checksum) is None:
                self.damaged.append(plain)
            plain, at = plain + length, at + size
        self.size = plain
        return True

    def block(self, number):
        if self.kept[0] != number:
            at, length, size, checksum = self.blocks[number]
            self.kept = number, inflate(self.stored(at, size), length, checksum) or bytes(length)
        return self.kept[1]

    def read(self, at, length):
        """Bytes from an offset on, fewer where the segment ends."""
        if self.blocks is None:
            return self.stored(at, length)
        found, end = bytearray(), min(at + length, self.size)
        while at < end:
            number = bisect.bisect_right(self.starts, at) - 1
            from_ = at - self.starts[number]
            part = self.block(number)[from_:from_ + end - at]
            found += part
            at += len(part)
        return bytes(found)

    def pieces(self, at, end):
        while at < end:
            piece = self.read(at, min(PIECE, end - at))
            if not piece:
                return
            yield piece
            at += len(piece)

    def has_bytes(self, at):
        """Whether a byte from an offset on is not zero."""
        return any(piece.count(0) != len(piece) for piece in self.pieces(at, self.size))


NEWER_SEAL = object()


class Journal:
    def __init__(self, note=None, since=None, key=None):
        self.problems, self.problem_count, self.torn, self.name = [], 0, None, "HEAD"
        self.sequence, self.batch, self.number = 0, 0, 0
        self.hash, self.digest, self.time, self.deployment = bytes(32), bytes(32), 0, None
        self.mark, self.marked, self.records = None, None, 0
        self.attempts, self.forgotten, self.access, self.damaged = {}, -1, 0, []
        self.newer, self.first, self.history = {}, 0, History(self, note, since, key)
        if since:
            self.sequence, self.forgotten = since.segment, since.segment - 1
            self.number = self.batch = self.hash = self.digest = None

    def problem(self, verdict, detail, offset=0, sequence=None):
        """The first are kept and the others counted, so that a destroyed journal does not take the memory."""
        self.problem_count += 1
        if len(self.problems) < PROBLEMS_MAXIMUM:
            where = self.sequence if sequence is None else sequence
            self.problems.append(f"{self.name} offset {offset} sequence {where}: {verdict}: {detail}")

    def unknown(self, what, at, sequence):
        """A record that is right as one, and has what this page does not: each kind by its first record, and counted."""
        what = what if what in self.newer or len(self.newer) < NEWER_MAXIMUM else "other kinds"
        self.newer.setdefault(what, [f"{self.name} offset {at} sequence {sequence}: newer than this verifier: ", sequence, 0])[2] += 1

    def is_known_at(self, sequence):
        """Whether all before a sequence is known. If not, what an entry there follows may be in what is not."""
        return all(sequence < first for _, first, _ in self.newer.values())

    @property
    def is_destroyed(self):
        return self.problem_count > PROBLEMS_MAXIMUM

    def file(self, path, last):
        self.name = os.path.basename(path)
        with open(path, "rb") as file:
            data = Segment(file)
            if data.is_cold and not data.open_cold():
                self.sequence = int(self.name[:16])
                return self.problem("damaged batch", "index of the cold segment")
            self.damaged = data.damaged
            self.segment(data, last and not data.is_cold)
            self.damaged_blocks()

    def damaged_blocks(self):
        """Reports what is wrong with the file of a cold segment, the cause of what else is wrong in it."""
        for offset in self.damaged:
            self.problem("damaged batch", "block of the cold segment", offset)
        self.damaged = []

    def segment(self, data, last):
        head = data.read(0, 256)
        if head[:8] == b"OSTJRNL1":
            return self.problem("damaged batch", "a version before 1.0.0, which was never released, wrote the segment")
        if len(head) < 256 or head[:8] != b"OSJOURNL" or zlib.crc32(head[:252]) != SEGMENT.unpack(head)[12]:
            self.damaged_blocks()
            return self.problem("damaged batch", "segment header")
        _, version, length, zero, number, first, batch, _, deployment, head, digest, zeros, _ = SEGMENT.unpack(head)
        if (version, length, zero, any(zeros), first) != (1, 256, 0, False, int(self.name[:16])):
            self.problem("damaged batch", "segment header")
        if self.number is None:
            # The place of a state: what comes before it was verified then.
            self.number, self.batch, self.hash, self.digest = number, batch, head, digest
        if first != self.sequence:
            self.problem("record is missing from the log", f"the segment begins with sequence {first}")
        else:
            if (number, batch) != (self.number, self.batch) or self.deployment not in (None, deployment):
                self.problem("damaged batch", "segment number, first batch number or deployment id")
            if (head, digest) != (self.hash, self.digest):
                self.problem("broken link to the previous record", "chain head or content digest")
        self.sequence, self.batch, self.number, self.hash, self.deployment = first, batch, number, head, deployment
        self.first = first
        offset, sealed = 256, False
        while not sealed:
            fault, header = self.batch_fault(data, offset)
            if fault == "end" and not data.has_bytes(offset):
                break
            if fault:
                self.damaged_blocks()
                if fault not in VERDICTS and last and not self.later_batch(data, offset):
                    self.torn = f"{self.name} offset {offset} sequence {self.sequence}: torn tail"
                else:
                    self.problem(fault if fault in VERDICTS else VERDICTS[1], f"batch {self.batch}", offset)
                    self.hash, self.batch = None, self.batch + 1
                return
            sealed = self.read_batch(data, offset, *header)
            if sealed is None:
                return
            offset += len(header[1])
        if not sealed and not last:
            self.problem("damaged batch", "no seal", offset)
        if sealed and (data.has_bytes(offset) or data.size > offset and not last):
            self.problem("damaged batch", "bytes behind the seal", offset)
        self.number += 1

    def batch_fault(self, data, offset):
        """None for a batch of which rules 1 to 3 hold; "end"; "torn" when a torn write can leave it; else a verdict."""
        head = data.read(offset, 64)
        if data.size - offset < 72 or len(head) < 64 or not any(head):
            return "end", None
        magic, _, _, batch, first, _, size, segment, _, checksum = header = BATCH.unpack(head)
        if magic != b"OSJB" or zlib.crc32(head[:60]) != checksum:
            return "torn", None
        if not well_formed(header):
            return VERDICTS[1], None
        if (batch, segment) == (self.batch, self.number) and first != self.sequence:
            return VERDICTS[0], None
        if (batch, first, segment) != (self.batch, self.sequence, self.number):
            return VERDICTS[0] if segment == self.number and first > self.sequence else VERDICTS[1], None
        bytes_ = data.read(offset, size + 72)
        if len(bytes_) < size + 72 or bytes_[-4:] != b"OSJE":
            return "torn", None
        whole = zlib.crc32(bytes_[:-8]) == struct.unpack_from(">I", bytes_, size + 64)[0]
        return (None, (header, bytes_)) if whole else ("torn", None)

    def later_batch(self, data, offset):
        for start in range(offset + 8, data.size - 63, PIECE):
            piece = data.read(start, PIECE + 63)
            at = piece.find(b"OSJB")
            while 0 <= at <= min(PIECE - 1, len(piece) - 64):
                header = BATCH.unpack_from(piece, at)
                if at % 8 == 0 and well_formed(header) and zlib.crc32(piece[at:at + 60]) == header[9]:
                    if header[7] == self.number and header[3] > self.batch:
                        return True
                at = piece.find(b"OSJB", at + 1)
        return False

    def read_batch(self, data, offset, header, batch):
        """True when the batch seals its segment, None when its records do not have their form."""
        at, end, count, first = 64, 64 + header[6], 0, self.sequence
        seal = None
        while at < end:
            padded = (88 + RECORD.unpack_from(batch, at)[1] + 7) // 8 * 8 if end - at >= 88 else end
            if at + padded > end:
                self.problem("damaged batch", "the records do not fill the batch", offset + at)
                return None
            may_set_back = count == 1 and at + padded == end
            found = self.record(batch[at:at + padded], offset + at, may_set_back)
            seal, at, count = seal if found is None else found, at + padded, count + 1
        if count != header[5] or (seal is not None) != (header[2] == 1) or (seal is not None and count != 1):
            self.problem("damaged batch", "record count or seal", offset, first)
        if seal is not None:
            digest = hashlib.sha256()
            for piece in data.pieces(0, offset):
                digest.update(piece)
            self.digest = digest.digest()
            right = [self.number, int(self.name[:16]), self.sequence - 2, offset]
            if seal is NEWER_SEAL:
                pass
            elif len(seal) != 5 or seal[:4] != right or not is_digest(seal[4]):
                self.problem("damaged batch", "statements of the seal", offset, self.sequence - 1)
            elif seal[4] != self.digest:
                self.problem("content changed", "content digest of the seal", offset, self.sequence - 1)
                self.digest = seal[4]
        self.batch += 1
        return seal is not None

    def record(self, data, at, may_set_back):
        """The values of a seal, None of another record. `at`: where the record is in its segment.

        `may_set_back`: it is the second of two records of its batch, as one that sets the clock back must be."""
        stated, length, kind, version, sequence, time, previous = RECORD.unpack_from(data)
        body = data[88:88 + length]
        if sequence != self.sequence:
            self.problem("record is missing from the log", f"here is sequence {sequence}", at)
        elif self.hash is not None and previous != self.hash:
            self.problem("broken link to the previous record", f"record {sequence}", at)
        self.sequence = sequence
        unchanged = hashlib.sha256(DOMAIN + data[32:88] + body).digest() == stated
        if not unchanged:
            self.problem("content changed", f"record {sequence}", at)
        known = version in (1, 2) and kind in (GENESIS, SEAL, CHANGE, AUDIT)
        if (kind == GENESIS) != (sequence == 0) or not known and not unchanged:
            self.problem("damaged batch", f"kind {kind}, body version {version}", at)
        elif not known:
            self.unknown(f"record kind {kind}" if version in (1, 2) else f"body version {version}", at, sequence)
        if version == 2:
            # The time of the host, before the record's time by more than a second, and then the body.
            if length < 8 or time - int.from_bytes(body[:8], "big") <= 1_000_000:
                self.problem("damaged batch", "time of the host", at)
            body = body[8:]
        is_set_back = time < self.time and may_set_back and version == 1 and sets_back(body, kind, self.time, time)
        if time < self.time and not is_set_back or any(data[88 + length:]):
            self.problem("damaged batch", "time or padding", at)
        content = unpack(body) if known and kind in (GENESIS, SEAL) else None
        content = content if isinstance(content, list) else []
        if kind == GENESIS and known and not (content[:3] == [1, "object-store", self.deployment] and len(content) == 4 and is_digest(content[3])):
            self.problem("damaged batch", "genesis", at)
        if known and kind in (CHANGE, AUDIT):
            self.entry(body, kind, sequence, at, stated, unchanged)
        if not self.is_destroyed:
            self.history.record(sequence, stated, self.first)
        if self.mark and sequence == self.mark[1]:
            self.marked = (self.batch, stated)
        self.hash, self.time = stated, time if is_set_back else max(time, self.time)
        self.sequence, self.records = sequence + 1, self.records + 1
        return (content if known else NEWER_SEAL) if kind == SEAL else None

    def entry(self, body, kind, sequence, at, stated, unchanged):
        """Every entry has the form of one; a change has its attempt, unless the system made it."""
        read = read_entry(body, kind)
        if read is None:
            return self.problem("damaged batch", "the body is not an entry", at)
        values, request, rest = read
        result, intent = values[0], values[7]
        if result == 0:
            self.remember(sequence, request)
        if kind == CHANGE:
            changes = read_changes(body, rest)
            if changes is None:
                self.problem("damaged batch", "its changes are none", at)
            else:
                self.changes(changes, (result, intent, request), sequence, at, stated, unchanged)
        if result == 1:
            self.attempts.pop(intent, None)

    def remember(self, sequence, request):
        """Attempts without an outcome; the oldest of too many are not asked for any more."""
        self.attempts[sequence] = request
        if len(self.attempts) > OPEN_MAXIMUM:
            self.forgotten = next(iter(self.attempts))
            del self.attempts[self.forgotten]

    def changes(self, changes, asked, sequence, at, stated, unchanged):
        result, intent, request = asked
        kinds = [change[0] for change in changes]
        unknown = [kind for kind in dict.fromkeys(kinds) if kind not in KNOWN_CHANGES] if unchanged else []
        for kind in unknown:
            self.unknown(f"change kind {kind}", at, sequence)
        own = all(one in SYSTEM_CHANGES or one == KEY_ROTATED and KEY_CHANGED in kinds for one in kinds)
        forgotten = intent is not None and intent not in self.attempts and intent < sequence
        known = own or bool(unknown) if intent is None else self.attempts.get(intent) == request or \
            forgotten and (intent <= self.forgotten or not self.is_known_at(intent))
        if not known or result != 1:
            self.problem("change without its attempt", f"record {sequence}", at)
        self.access += any(one in ACCESS_CHANGES for one in kinds)
        if not self.is_destroyed:
            self.checkpoint_entry([change for change in changes if change[0] == CHECKPOINT_SIGNED], sequence, at, stated)
            self.handover_entry([change for change in changes if change[0] == KEY_ROTATED], sequence, at)
        for change in changes:
            place = {3: 8, 16: 8, 39: 4}.get(change[0], len(change))
            payload = change[place] if place < len(change) else None
            if type(payload) is list and len(payload) > 2 and type(payload[0]) is int and payload[0] == 2:
                name = payload[2]
                if type(name) is not str or not re.fullmatch(r"[0-9a-f]{28}", name):
                    self.problem("forbidden value", f"record {sequence}: {str(name)[:100]!r} is not the name of a payload file", at)

    def checkpoint_entry(self, changes, sequence, at, stated):
        for change in changes:
            lengths = [len(value) if isinstance(value, bytes) else type(value) for value in change]
            if lengths != [int, int, 32, 32, 32, str, 32, 64]:
                self.problem("damaged batch", "its checkpoint has not the form of one", at)
            else:
                self.history.checkpoint(sequence, at, stated, *change[1:])

    def handover_entry(self, changes, sequence, at):
        for change in changes:
            lengths = [len(value) if isinstance(value, bytes) else type(value) for value in change]
            if lengths != [int, str, int, 32, 32, int, 32, 64, 64]:
                self.problem("damaged batch", "its hand-over has not the form of one", at)
            else:
                self.history.handover(sequence, at, *change[1:])

    def hashes(self, paths):
        """Sequence and stated hash of each record, without looking at anything else; up to the first place that cannot be read."""
        for path in paths:
            with open(path, "rb") as file:
                data, offset = Segment(file), 256
                if data.is_cold and not data.open_cold():
                    return
                while len(head := data.read(offset, 64)) == 64 and well_formed(header := BATCH.unpack(head)) and header[0] == b"OSJB":
                    batch, at = data.read(offset + 64, header[6]), 0
                    while len(batch) - at >= 88:
                        stated, length, _, _, sequence, _, _ = RECORD.unpack_from(batch, at)
                        yield sequence, stated
                        at += (88 + length + 7) // 8 * 8
                    offset += header[6] + 72

    def head(self, slots):
        """Keeps the mark that counts: number, sequence, batch number, hash."""
        marks = [struct.unpack_from(">QQQ32s", slot, 8) for slot in (slots[:4096], slots[4096:8192])
                 if slot[:8] == b"OSTHEAD1" and struct.pack(">I", zlib.crc32(slot[:128])) == slot[128:132]]
        self.mark = max(marks, default=None)


def is_digest(value):
    return isinstance(value, bytes) and len(value) == 32


def format_version(path):
    """As the header of a segment says; that of this page for a header that is not whole."""
    with open(path, "rb") as file:
        segment = Segment(file)
        head = segment.read(0, 256) if not segment.is_cold or segment.open_cold() else b""
    whole = len(head) == 256 and head[:8] == b"OSJOURNL" and zlib.crc32(head[:252]) == SEGMENT.unpack(head)[12]
    return SEGMENT.unpack(head)[1] if whole else FORMAT_VERSION


def judge(directory, given):
    """Verifies a journal, and prints what is found. `given`: a namespace of the options."""
    key = read_key(given.key) if given.key else None
    note = read_note(given.checkpoint) if given.checkpoint else None
    since = State.read(given.since + STATE_SUFFIX, read_note(given.since)) if given.since else None
    kept = [one for one in (since and since.note, note) if one]
    if key and any(one.origin != key[0] for one in kept):
        raise Refused("a checkpoint is of another log than the key")
    if since and note and note.size < since.note.size:
        raise Refused("the checkpoint is an earlier one than that of --since")
    journal = Journal(note, since, key)
    if os.path.exists(os.path.join(directory, "HEAD")):
        with open(os.path.join(directory, "HEAD"), "rb") as file:
            journal.head(file.read(8192))
    names = sorted(name for name in os.listdir(directory) if re.fullmatch(r"\d{16}\.segment", name))
    if not names:
        inner = os.path.join(directory, "journal")
        print(f"{directory} holds no segment" + (f"; the journal is {inner}" if os.path.isdir(inner) else ""))
    versions = {format_version(os.path.join(directory, name)) for name in {*names[:1], *names[-1:]}}
    if max(versions, default=FORMAT_VERSION) > FORMAT_VERSION:
        print(f"newer than this verifier: the journal has format {max(versions)}")
        return NEWER
    if since:
        place = f"{since.segment:016}.segment"
        if names and names[-1] > place and place not in names:
            raise Refused(f"{place}, where the state goes on, is not there: verify the whole journal")
        names = [name for name in names if name >= place]
    paths = [os.path.join(directory, name) for name in names]
    for path in paths:
        journal.file(path, path == paths[-1])
    if journal.mark and journal.mark[1] >= journal.sequence:
        journal.problem("acknowledged entries lost", f"HEAD marks sequence {journal.mark[1]}")
    elif journal.marked and journal.marked != journal.mark[2:]:
        changed = journal.marked[1] != journal.mark[3]
        journal.problem("content changed" if changed else "damaged batch", f"HEAD marks another record {journal.mark[1]}")
    journal.history.finish(paths)
    faults = [fault for one in kept for fault in (journal.history.foreign(one), journal.history.signature(one)) if fault]
    return tell(journal, bool(names or since), faults, given)


def tell(journal, is_there, faults, given):
    """Prints what a verification found. @returns the exit code"""
    history = journal.history
    for line in [*([journal.torn] if journal.torn else []), *journal.problems]:
        print(line)
    if journal.problem_count > len(journal.problems):
        print(f"and {journal.problem_count - len(journal.problems)} more problems")
    for what, (place, _, count) in journal.newer.items():
        print(f"{place}{what}, {count} record{'s'[:count != 1]}")
    for fault in faults:
        print(f"the checkpoint: {fault}")
    right = is_there and not journal.problem_count and not faults
    of = f" after those of the checkpoint of {history.start}" if history.since else ""
    count = journal.sequence - history.start if history.since else journal.records
    if right and journal.newer:
        print(f"newer than this verifier: {count} records{of}, and everything that this verifier knows is intact")
    elif right:
        print(f"intact {count} records{of}")
    for line in history.lines() if right else ():
        print(line)
    if history.note and not faults:
        said = {True: "extends", False: "NOT extends", None: "unknown whether it extends"}[history.extends]
        print(f"{said} the checkpoint of {history.note.size} records of {history.note.origin}")
    if (history.note or history.since) and not history.key:
        print("signature: not proved, no --key")
    if journal.access:
        print(f"{journal.access} changes of access: not checked, no master key")
    if not right or history.note and not history.extends:
        return DAMAGED
    if journal.newer:
        return NEWER
    if given.keep_state:
        history.state().write(given.checkpoint + STATE_SUFFIX)
    return INTACT


NOTHING_GIVEN = argparse.Namespace(checkpoint=None, key=None, since=None, keep_state=False)


def verdict(directory, given=NOTHING_GIVEN):
    """The exit code of a journal. What this program does not foresee is damage as well, and not the end of it."""
    try:
        return judge(directory, given)
    except OSError as error:
        print(error)
    except (Refused, Malformed) as error:
        print(f"refused: {error}")
    except (Exception, RecursionError, MemoryError) as error:
        print(f"damaged: {type(error).__name__}: {error}")
    return DAMAGED


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("journal", nargs="+")
    for name in ("checkpoint", "key", "since"):
        parser.add_argument(f"--{name}")
    parser.add_argument("--keep-state", action="store_true")
    given = parser.parse_args()
    if given.key and not (given.checkpoint or given.since):
        parser.error("--key is that of a --checkpoint or of --since")
    if given.keep_state and not given.checkpoint:
        parser.error("--keep-state keeps the state at a --checkpoint")
    results = set()
    for directory in given.journal:
        if len(given.journal) > 1:
            print(f"{directory}:")
        results.add(verdict(directory, given))
    return DAMAGED if DAMAGED in results else max(results)


if __name__ == "__main__":
    sys.stdout.reconfigure(errors="backslashreplace")
    sys.exit(main())
