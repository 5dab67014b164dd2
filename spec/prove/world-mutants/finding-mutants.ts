/**
 * Faults that people outside the project once found, put back: each is the smallest edit that undoes what mended it. Their
 * numbers are those of three reports: S, on security; C, on conformance with the specification; O, on operating.
 */
import type { WorldMutant } from './mutant.ts'

export const FINDINGS: readonly WorldMutant[] = [
  {
    name: 'S1: an answer without room is refused by one that needs as much',
    edits: [
      {
        file: 'planes/exchange/exchange',
        search: 'return held === undefined ? this.#answerBusy() :',
        replacement: 'return held === undefined ? this.#refuse(new BusyError()) :',
      },
      {
        file: 'planes/s3/documents/error-response',
        search: 'cut(context.resource, RESOURCE_BYTES_MAXIMUM)',
        replacement: 'escapeXmlLossy(context.resource)',
      },
    ],
    expected: { within: 3, inhabitants: 30 },
  },
  {
    name: 'S2: rows are written after the journal, and a bucket holds any number of bytes',
    edits: [
      {
        file: 'engine/domain/quota',
        search: 'BUCKET_BYTES_MAXIMUM = 2 ** 52',
        replacement: 'BUCKET_BYTES_MAXIMUM = Infinity',
      },
      {
        file: 'engine/loop/engine',
        search: 'state.finish(this.#journal.positionAfter, firstSequence, batch.takeUses());',
        replacement: 'const place = this.#journal.positionAfter;',
      },
      {
        file: 'engine/loop/engine',
        search: 'this.#journalIsAhead = true;',
        replacement: `this.#journalIsAhead = true;
                state.finish(place, firstSequence, batch.takeUses());`,
      },
    ],
    expected: { notWithin: 30, because: 'no bucket holds so many bytes that a row is refused' },
  },
  {
    name: 'S3: unread answers are held in one share for all, without a place',
    edits: [
      { file: 'planes/exchange/exchange', search: 'owner: this.account,', replacement: "owner: 'all'," },
      {
        file: 'planes/exchange/exchange',
        search: 'body.closed = () => this.#leave();',
        replacement: 'this.#leave();',
      },
    ],
    expected: { within: 3, inhabitants: 30 },
  },
  {
    name: 'S4: an object is hashed to its end before the next one',
    edits: [{ file: 'workers/digest-multipart', search: 'if (bytes >= STEP_BYTES)', replacement: 'if (false)' }],
    expected: { notWithin: 30, because: 'objects are small, and how long somebody waits is not judged' },
  },
  {
    name: 'S5: a record whose body is no entry ends whoever reads it',
    edits: [
      {
        file: 'projections/audit/audit-record',
        search:
          "const metadata = ['damaged', 'the body is not an entry', 'record_hash', hash, 'body_bytes', bodyLength];",
        replacement: "throw new Error('the body is not an entry');",
      },
    ],
    expected: { notWithin: 30, because: 'nobody writes a record of their own into the journal' },
  },
  {
    name: 'S6: a batch is bounded in bytes, not in rows',
    edits: [{ file: 'engine/loop/batch-room', search: 'ROWS_MAXIMUM = 2000', replacement: 'ROWS_MAXIMUM = Infinity' }],
    expected: { notWithin: 30, because: 'no batch touches 2,000 rows, and how long somebody waits is not judged' },
  },
  {
    name: 'S7: copies of parts never give way to another account',
    edits: [
      {
        file: 'planes/objects/copy-part',
        search: 'http, () => share.turn());',
        replacement: 'http, () => undefined);',
      },
    ],
    expected: { within: 10, inhabitants: 30 },
  },
  {
    name: 'S8: a proof is decoded however many lines it has',
    edits: [{ file: 'engine/checkpoints/tree-proofs', search: 'lines.length < most;', replacement: ';' }],
    expected: { notWithin: 30, because: 'worlds have no witness' },
  },
  {
    name: 'C1: an export that breaks off is on record as a success',
    edits: [
      {
        file: 'planes/exchange/request-journal',
        search: "this.#engine.record(audit, 'failure', this.#attempt)?.catch(() => undefined);",
        replacement: "this.#engine.record(audit, 'success', this.#attempt)?.catch(() => undefined);",
      },
    ],
    expected: {
      notWithin: 16,
      because: 'no export of a world breaks off by itself, and one that its client leaves may have been produced whole',
      inhabitants: 30,
    },
  },
  {
    name: 'C2: what is shown is the order time, which stands still while the clock is behind',
    edits: [
      {
        file: 'engine/journal/batch-builder',
        search: 'return order - host <= TIMES_AGREE_MICROSECONDS ? order : this.#ownTime(order, host);',
        replacement: 'return order;',
      },
    ],
    expected: { within: 6 },
  },
  {
    name: 'C3: attempts of a webhook that was disabled meanwhile are left out',
    edits: [
      {
        file: 'engine/webhooks/rules',
        search: 'else if (attempts.length > 0 && webhooks.webhook(webhook) !== undefined) {',
        replacement: 'else if (attempts.length < 0) {',
      },
    ],
    expected: { within: 3, inhabitants: 30 },
  },
  {
    name: 'C4: a read is refused where its record has no room',
    edits: [
      {
        file: 'planes/exchange/request-journal',
        search: 'return this.#engine.record(audit, result, this.#attempt, isChange);',
        replacement: 'return this.#engine.record(audit, result, this.#attempt, true);',
      },
    ],
    expected: { within: 10, inhabitants: 30 },
  },
  {
    name: 'C14: a stop waits for bodies that never come two seconds longer than its grace',
    edits: [
      {
        file: 'planes/http/listener',
        search: 'const timer = setTimeout(resolve, milliseconds);',
        replacement: 'const timer = setTimeout(resolve, milliseconds + 2000);',
      },
    ],
    expected: { within: 10, inhabitants: 30 },
  },
  {
    name: 'O1: a lock is judged by the row of the version alone',
    edits: [
      {
        file: 'projections/apply/state-transaction',
        search: 'if (isLock(this.#tables.locks, bucketId, key, sequence, lock))',
        replacement: 'if (version !== undefined)',
      },
    ],
    expected: { notWithin: 30, because: 'nobody edits the rows of a world' },
  },
  {
    name: 'O2: rows are taken as they are read',
    edits: [
      {
        file: 'projections/row-sum',
        search: 'return sum === this.#values.words.getInt32(length, true);',
        replacement: 'return sum !== undefined;',
      },
    ],
    expected: { notWithin: 30, because: 'rows of a world are in memory, without sums' },
  },
  {
    name: 'O8: a clock that was set back makes credentials usable that had expired',
    edits: [
      {
        file: 'planes/s3/identity/credential-directory',
        search:
          'return expires === Number.POSITIVE_INFINITY || expires > this.#clock() ? known.credential : undefined;',
        replacement:
          'return expires === Number.POSITIVE_INFINITY || expires > Date.now() ? known.credential : undefined;',
      },
    ],
    expected: { within: 10, inhabitants: 30 },
  },
]
