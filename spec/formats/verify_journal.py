#!/usr/bin/env python3
"""Verifies a journal with nothing but journal.md and Python's standard library.

    python3 verify_journal.py <data directory>/journal [another journal]...

Prints "intact N records" and ends with 0, or prints what is wrong and ends with 1. It reads only, and it passes over
the rest of a segment behind the first thing that is wrong in its form. It is the page's proof of being complete.
It has no master key, so it does not check the codes of changes of access (section "Access").
`verify_checkpoint.py` and `verify_proof.py` must be beside it: the trees and the signatures of checkpoints are there.
"""
import base64
import hashlib
import os
import re
import struct
import sys
import zlib

sys.dont_write_bytecode = True
from verify_checkpoint import bundle_tree, handover_text, log_tree
from verify_proof import is_signed

DOMAIN = b"object-store/journal-record/v1" + bytes(2)
SEGMENT = struct.Struct(">8sHHIQQQQ16s32s32s124sI")
BATCH = struct.Struct(">4sHHQQIIQ20sI")
RECORD = struct.Struct(">32sIHHQQ32s")
GENESIS, SEAL, CHANGE, AUDIT = 1, 2, 3, 4
SYSTEM_CHANGES = {5, 6, 7, 21, 34, 35, 36, 37, 47, 52, 53, 54, 55, 62, 63, 73}
ACCESS_CHANGES = {*range(23, 36), 37, *range(40, 44), 50, 51, *range(70, 74), *range(75, 79)}
CHECKPOINT_SIGNED, KEY_ROTATED, KEY_CHANGED = 47, 56, 37
COLD_BLOCK = bytes.fromhex("1f8b08000000000000ff")
COLD_INDEX = bytes.fromhex("1f8b08040000000000ff")
COLD_END = bytes.fromhex("03000000000000000000")
PLAIN_MAXIMUM = 2 << 30
VERDICTS = "record is missing from the log", "damaged batch"


class Unpacker:
    """Reads the MessagePack of bodies: nil, flags, integers, text, bytes and arrays."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, form):
        value = struct.unpack_from(">" + form, self.data, self.at)[0]
        self.at += struct.calcsize(form)
        return value

    def value(self):
        tag = self.take("B")
        if tag < 0x80:
            return tag
        if tag & 0xF0 == 0x90:
            return [self.value() for _ in range(tag & 0x0F)]
        if tag >= 0xE0:
            return tag - 256
        if tag in (0xC0, 0xC2, 0xC3):
            return {0xC0: None, 0xC2: False, 0xC3: True}[tag]
        if tag in (0xDC, 0xDD):
            count = self.take("H" if tag == 0xDC else "I")
            return [self.value() for _ in range(count)]
        if tag & 0xE0 == 0xA0:
            return self.take(f"{tag & 0x1F}s").decode()
        numbers = {0xCC: "B", 0xCD: "H", 0xCE: "I", 0xCF: "Q", 0xD0: "b", 0xD1: "h", 0xD2: "i", 0xD3: "q", 0xCB: "d"}
        if tag in numbers:
            return int(self.take(numbers[tag]))
        sizes = {0xC4: "B", 0xC5: "H", 0xC6: "I", 0xD9: "B", 0xDA: "H", 0xDB: "I"}
        data = self.take(f"{self.take(sizes[tag])}s")
        return data.decode() if tag >= 0xD9 else data


def unpack(body):
    try:
        reader = Unpacker(body)
        value = reader.value()
        return value if reader.at == len(body) else None
    except (struct.error, KeyError, UnicodeDecodeError, ValueError, RecursionError, OverflowError):
        return None


def well_formed(header):
    _, version, flags, _, _, count, size, _, zeros, _ = header
    return version == 1 and flags <= 1 and not any(zeros) and count >= 1 and size % 8 == 0 and size < 1 << 30


def cold_index(data):
    """Of each block of a cold segment its length, that of its member and the CRC-32 of that; None without an index."""
    if len(data) < 62 or data[-10:] != COLD_END or data[-18:-10] != b"OSTCOLD1":
        return None
    plain, count, checksum = struct.unpack(">QII", data[-34:-18])
    start, size = len(data) - 50 - 12 * count, 12 * count + 24
    if not 1 <= count <= 5458 or start < 0 or zlib.crc32(data[start:-22]) != checksum:
        return None
    if data[start:start + 16] != COLD_INDEX + struct.pack("<H2sH", size + 4, b"OJ", size):
        return None
    blocks = list(struct.iter_unpack(">III", data[start + 16:-34]))
    right = all(1 <= block <= 1 << 20 and 21 <= member <= block + 1024 for block, member, _ in blocks)
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


class Journal:
    def __init__(self):
        self.problems, self.torn, self.name = [], None, "HEAD"
        self.sequence, self.batch, self.number = 0, 0, 0
        self.hash, self.digest, self.time, self.deployment = bytes(32), bytes(32), 0, None
        self.mark, self.marked, self.records = None, None, 0
        self.attempts, self.access, self.damaged = {}, 0, []
        self.hashes, self.checkpoints, self.handovers = bytearray(), [], []

    def problem(self, verdict, detail, offset=0):
        self.problems.append(f"{self.name} offset {offset} sequence {self.sequence}: {verdict}: {detail}")

    def file(self, path, last):
        self.name, self.damaged = os.path.basename(path), []
        with open(path, "rb") as file:
            data = file.read()
        if data[:4] != COLD_BLOCK[:4]:
            return self.segment(data, last)
        blocks = cold_index(data)
        if blocks is None:
            self.sequence = int(self.name[:16])
            return self.problem("damaged batch", "index of the cold segment")
        plain, at = bytearray(), 0
        for length, size, checksum in blocks:
            block = inflate(data[at:at + size], length, checksum)
            if block is None:
                self.damaged.append(len(plain))
            plain += block or bytes(length)
            at += size
        self.segment(plain, False)
        self.damaged_blocks()

    def damaged_blocks(self):
        """Reports what is wrong with the file of a cold segment, the cause of what else is wrong in it."""
        for offset in self.damaged:
            self.problem("damaged batch", "block of the cold segment", offset)
        self.damaged = []

    def segment(self, data, last):
        if len(data) < 256 or data[:8] != b"OSTJRNL1" or zlib.crc32(data[:252]) != SEGMENT.unpack_from(data)[12]:
            self.damaged_blocks()
            return self.problem("damaged batch", "segment header")
        fields = SEGMENT.unpack_from(data)
        _, version, length, zero, number, first, batch, _, deployment, head, digest, zeros, _ = fields
        if (version, length, zero, any(zeros), first) != (1, 256, 0, False, int(self.name[:16])):
            self.problem("damaged batch", "segment header")
        if first != self.sequence:
            self.problem("record is missing from the log", f"the segment begins with sequence {first}")
        else:
            if (number, batch) != (self.number, self.batch) or self.deployment not in (None, deployment):
                self.problem("damaged batch", "segment number, first batch number or deployment id")
            if (head, digest) != (self.hash, self.digest):
                self.problem("broken link to the previous record", "chain head or content digest")
        self.sequence, self.batch, self.number, self.hash, self.deployment = first, batch, number, head, deployment
        offset, sealed = 256, False
        while not sealed:
            fault, header = self.batch_fault(data, offset)
            if fault == "end" and not any(data[offset:]):
                break
            if fault:
                self.damaged_blocks()
                if fault not in VERDICTS and last and not self.later_batch(data, offset):
                    self.torn = f"{self.name} offset {offset} sequence {self.sequence}: torn tail"
                else:
                    self.problem(fault if fault in VERDICTS else VERDICTS[1], f"batch {self.batch}", offset)
                    self.hash, self.batch = None, self.batch + 1
                return
            sealed = self.read_batch(data, offset, header)
            if sealed is None:
                return
            offset += 72 + header[6]
        if not sealed and not last:
            self.problem("damaged batch", "no seal", offset)
        if sealed and (any(data[offset:]) or len(data) > offset and not last):
            self.problem("damaged batch", "bytes behind the seal", offset)
        self.number += 1

    def batch_fault(self, data, offset):
        """None for a batch of which rules 1 to 3 hold; "end"; "torn" when a torn write can leave it; else a verdict."""
        if len(data) - offset < 72 or not any(data[offset:offset + 64]):
            return "end", None
        magic, _, _, batch, first, _, size, segment, _, checksum = header = BATCH.unpack_from(data, offset)
        if magic != b"OSJB" or zlib.crc32(data[offset:offset + 60]) != checksum:
            return "torn", None
        if not well_formed(header):
            return VERDICTS[1], None
        if (batch, segment) == (self.batch, self.number) and first != self.sequence:
            return VERDICTS[0], None
        if (batch, first, segment) != (self.batch, self.sequence, self.number):
            return VERDICTS[0] if segment == self.number and first > self.sequence else VERDICTS[1], None
        end = offset + 64 + size
        if end + 8 > len(data) or data[end + 4:end + 8] != b"OSJE":
            return "torn", None
        whole = zlib.crc32(data[offset:end]) == struct.unpack_from(">I", data, end)[0]
        return (None, header) if whole else ("torn", None)

    def later_batch(self, data, offset):
        for at in range(offset + 8, len(data) - 63, 8):
            header = BATCH.unpack_from(data, at)
            if header[0] == b"OSJB" and well_formed(header) and zlib.crc32(data[at:at + 60]) == header[9]:
                if header[7] == self.number and header[3] > self.batch:
                    return True
        return False

    def read_batch(self, data, offset, header):
        """True when the batch seals its segment, None when its records do not have their form."""
        at, end, count = offset + 64, offset + 64 + header[6], 0
        seal = None
        while at < end:
            padded = (88 + RECORD.unpack_from(data, at)[1] + 7) // 8 * 8 if end - at >= 88 else end
            if at + padded > end:
                self.problem("damaged batch", "the records do not fill the batch", at)
                return None
            seal = self.record(data, at, padded) or seal
            at, count = at + padded, count + 1
        if count != header[5] or (seal is not None) != (header[2] == 1) or (seal is not None and count != 1):
            self.problem("damaged batch", "record count or seal", offset)
        if seal is not None:
            self.digest = hashlib.sha256(data[:offset]).digest()
            right = [self.number, int(self.name[:16]), self.sequence - 2, offset]
            if len(seal) != 5 or seal[:4] != right or not isinstance(seal[4], bytes):
                self.problem("damaged batch", "statements of the seal", offset)
            elif seal[4] != self.digest:
                self.problem("content changed", "content digest of the seal", offset)
                self.digest = seal[4]
        self.batch += 1
        return seal is not None

    def record(self, data, at, padded):
        stated, length, kind, version, sequence, time, previous = RECORD.unpack_from(data, at)
        body = data[at + 88:at + 88 + length]
        if sequence != self.sequence:
            self.problem("record is missing from the log", f"here is sequence {sequence}", at)
        elif self.hash is not None and previous != self.hash:
            self.problem("broken link to the previous record", f"record {sequence}", at)
        self.sequence = sequence
        if hashlib.sha256(DOMAIN + data[at + 32:at + 88] + body).digest() != stated:
            self.problem("content changed", f"record {sequence}", at)
        if version != 1 or kind not in (GENESIS, SEAL, CHANGE, AUDIT) or (kind == GENESIS) != (sequence == 0):
            self.problem("damaged batch", f"kind {kind}, body version {version}", at)
        if time < self.time or any(data[at + 88 + length:at + padded]):
            self.problem("damaged batch", "time or padding", at)
        content = unpack(body) if kind in (GENESIS, SEAL) else None
        if kind == GENESIS and (content or [])[:3] != [1, "object-store", self.deployment]:
            self.problem("damaged batch", "genesis", at)
        if kind in (CHANGE, AUDIT):
            self.entry(unpack(body), kind, sequence, at, stated)
        if len(self.hashes) == 32 * sequence:
            self.hashes += stated
        if self.mark and sequence == self.mark[1]:
            self.marked = (self.batch, stated)
        self.hash, self.time = stated, max(time, self.time)
        self.sequence, self.records = sequence + 1, self.records + 1
        return (content or []) if kind == SEAL else None

    def entry(self, values, kind, sequence, at, stated):
        """A change has its attempt, unless the system made it; and files of payloads have names of one form."""
        if not values or len(values) < 9:
            if kind == CHANGE:
                self.problem("damaged batch", "the body is not an entry", at)
            return
        request, intent = repr(values[1:7]), values[7]
        if kind == CHANGE:
            changes = values[9] if len(values) > 9 and isinstance(values[9], list) else []
            kinds = [change[0] if isinstance(change, list) and change else None for change in changes]
            own = all(one in SYSTEM_CHANGES or one == KEY_ROTATED and KEY_CHANGED in kinds for one in kinds)
            if self.attempts.get(intent) != request and not (intent is None and own) or values[0] != 1:
                self.problem("change without its attempt", f"record {sequence}", at)
            self.access += any(one in ACCESS_CHANGES for one in kinds)
            self.checkpoint_entry([change for change, one in zip(changes, kinds) if one == CHECKPOINT_SIGNED], sequence, at, stated)
            self.handover_entry([change for change, one in zip(changes, kinds) if one == KEY_ROTATED], sequence, at)
            for change in changes:
                place = {3: 8, 16: 8, 39: 4}.get(change[0]) if isinstance(change, list) and isinstance((change or [None])[0], int) else None
                payload = change[place] if place and len(change) > place else None
                if payload and payload[0] == 2 and not re.fullmatch(r"[0-9a-f]{28}", str(payload[2])):
                    self.problem("forbidden value", f"record {sequence}: {payload[2]!r} is not the name of a payload file", at)
        if values[0] == 0:
            self.attempts[sequence] = request
        elif values[0] == 1:
            self.attempts.pop(intent, None)

    def checkpoint_entry(self, changes, sequence, at, stated):
        for change in changes:
            texts = [type(value) for value in change]
            if texts != [int, int, bytes, bytes, bytes, str, bytes, bytes] or \
                    [len(change[place]) for place in (2, 3, 4, 6, 7)] != [32, 32, 32, 32, 64]:
                self.problem("damaged batch", "its checkpoint has not the form of one", at)
            else:
                self.checkpoints.append((self.name, at, sequence, stated, *change[1:]))

    def handover_entry(self, changes, sequence, at):
        for change in changes:
            lengths = [len(value) if isinstance(value, bytes) else type(value) for value in change]
            if lengths != [int, str, int, 32, 32, int, 32, 64, 64]:
                self.problem("damaged batch", "its hand-over has not the form of one", at)
            else:
                self.handovers.append((self.name, at, sequence, *change[1:]))

    def handover_fault(self, handover, key, generation, had, last):
        """What is wrong with a hand-over of the key, if anything; `last`: origin, size and root of the checkpoint before it."""
        origin, number, old, new, size, root, by_old, by_new = handover
        text = handover_text(origin, size, root, old, new)
        if not is_signed(by_old, text, old) or not is_signed(by_new, text, new):
            return "it is not signed by both keys"
        if old != key or new in had or number != generation + 1:
            return "its keys or its generation do not follow"
        return None if (origin, size, root) == last else "it does not name the checkpoint before it"

    def check_checkpoints(self):
        """What the journal says of itself: sizes, links, signatures, and the roots of both trees at those sizes."""
        roots, trees, before = {}, (log_tree(), bundle_tree()), None
        wanted = {size for *_, size, _, _, _, _, _, _ in self.checkpoints}
        for leaf in range(min(max(wanted, default=0), len(self.hashes) // 32)):
            for tree in trees:
                tree.append(bytes(self.hashes[32 * leaf:32 * leaf + 32]))
            if leaf + 1 in wanted:
                roots[leaf + 1] = tuple(tree.root() for tree in trees)
        key_now, generation, had, named, waiting = None, 0, set(), None, sorted(self.handovers, key=lambda one: one[2])
        for name, at, sequence, stated, size, root, bundle_root, previous, origin, key, signature in [*self.checkpoints, [None] * 11]:
            while waiting and (sequence is None or waiting[0][2] < sequence):
                self.name, place, self.sequence, *handover = waiting.pop(0)
                fault = self.handover_fault(handover, key_now, generation, had, named)
                if fault:
                    self.problem("hand-over does not hold", fault, place)
                key_now, generation = handover[3], handover[1]
                had |= {handover[2], handover[3]}
            if sequence is None:
                break
            if key_now not in (None, key):
                self.name, self.sequence = name, sequence
                self.problem("checkpoint does not hold", f"of {size} records: nothing handed over to its key", at)
            key_now, named = key, (origin, size, root)
            had.add(key)
            last, linked = before or (-1, bytes(32))
            text = f"{origin}\n{size}\n{base64.b64encode(root).decode()}\n".encode()
            right = last < size <= sequence and size > 0 and previous == linked and is_signed(signature, text, key)
            if not right or roots.get(size, (root, bundle_root)) != (root, bundle_root):
                self.name, self.sequence = name, sequence
                self.problem("checkpoint does not hold", f"of {size} records", at)
            before = sequence, stated

    def head(self, slots):
        """Keeps the mark that counts: number, sequence, batch number, hash."""
        marks = [struct.unpack_from(">QQQ32s", slot, 8) for slot in (slots[:4096], slots[4096:8192])
                 if slot[:8] == b"OSTHEAD1" and struct.pack(">I", zlib.crc32(slot[:128])) == slot[128:132]]
        self.mark = max(marks, default=None)


def main(directory):
    journal = Journal()
    if os.path.exists(os.path.join(directory, "HEAD")):
        with open(os.path.join(directory, "HEAD"), "rb") as file:
            journal.head(file.read())
    names = sorted(name for name in os.listdir(directory) if re.fullmatch(r"\d{16}\.segment", name))
    if not names:
        inner = os.path.join(directory, "journal")
        print(f"{directory} holds no segment" + (f"; the journal is {inner}" if os.path.isdir(inner) else ""))
    for name in names:
        journal.file(os.path.join(directory, name), name == names[-1])
    if journal.mark and journal.mark[1] >= journal.sequence:
        journal.problem("acknowledged entries lost", f"HEAD marks sequence {journal.mark[1]}")
    elif journal.marked and journal.marked != journal.mark[2:]:
        changed = journal.marked[1] != journal.mark[3]
        journal.problem("content changed" if changed else "damaged batch", f"HEAD marks another record {journal.mark[1]}")
    journal.check_checkpoints()
    for line in [*([journal.torn] if journal.torn else []), *journal.problems]:
        print(line)
    if names and not journal.problems:
        print(f"intact {journal.records} records")
    if journal.access:
        print(f"{journal.access} changes of access: not checked, no master key")
    return 0 if names and not journal.problems else 1


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1] in ("-h", "--help"):
        print(__doc__.strip())
        sys.exit(0 if len(sys.argv) > 1 else 2)
    results = []
    for argument in sys.argv[1:]:
        if len(sys.argv) > 2:
            print(f"{argument}:")
        try:
            results.append(main(argument))
        except OSError as error:
            print(error)
            results.append(1)
    sys.exit(max(results, default=1))
