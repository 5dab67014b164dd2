/** Faults between features, invented from production code alone, before the steps and oracles of the world were read. */
import type { WorldMutant } from './mutant.ts'

export const INVENTED: readonly WorldMutant[] = [
  {
    name: 'a copy into another bucket does not count its reference to the payload',
    edits: [
      {
        file: 'projections/apply/version-rows',
        search: 'const payload = this.#payloads.take(change.payload, bucketId);',
        replacement: `const isCopy = source !== undefined && source.bucketId !== bucketId && change.payload !== undefined;
        const payload = isCopy ? change.payload.payload : this.#payloads.take(change.payload, bucketId);`,
      },
    ],
    expected: { within: 3 },
  },
  {
    name: 'the deletion of a bucket forgets its uploads',
    edits: [
      {
        file: 'engine/domain/bucket',
        search: 'const aborts = abortsWithBucket(bucket.id, state);',
        replacement: 'const aborts = [];',
      },
    ],
    expected: { within: 3, inhabitants: 30 },
  },
  {
    name: 'a lifecycle rule does not look at governance retention',
    edits: [
      {
        file: 'engine/lifecycle/expire-page',
        search: 'bypassGovernance: false',
        replacement: 'bypassGovernance: true',
      },
      {
        file: 'engine/lifecycle/expiry',
        search: 'requireDestroyable(version, context, false);',
        replacement: 'requireDestroyable(version, context, true);',
      },
    ],
    expected: { within: 15, inhabitants: 30 },
  },
  {
    name: 'an abort does not give back the bytes of its parts to the quota',
    edits: [
      {
        file: 'projections/apply/upload-rows',
        search: 'this.#discount(bucketId, this.#drop(upload, dropped));',
        replacement: 'this.#drop(upload, dropped);',
      },
    ],
    expected: { within: 10, inhabitants: 30 },
  },
  {
    name: 'a legal hold is not looked at where there is a retention as well',
    edits: [
      {
        file: 'engine/domain/lock',
        search: 'if (lock.hold === true)',
        replacement: 'if (lock.hold === true && lock.retention === undefined)',
      },
    ],
    expected: { within: 6, inhabitants: 30 },
  },
  {
    name: 'a batch deletion stops at the first key that is refused',
    edits: [
      {
        file: 'engine/loop/delete-objects',
        search: 'if (outcomes.length > 0 && !work.hasRoom())',
        replacement: "if (outcomes.length > 0 && (outcomes.at(-1).kind === 'failed' || !work.hasRoom()))",
      },
      {
        file: 'planes/s3/operations/delete-objects',
        search: 'while (results.length < judged.length) {',
        replacement: 'while (results.length < judged.length && !results.some((one) => one.error !== undefined)) {',
      },
    ],
    expected: { within: 12, inhabitants: 30 },
  },
  {
    name: 'a copy makes no storage event',
    edits: [
      {
        file: 'projections/events/derive-events',
        search: "'object.written': (change, sequence, changes) => {",
        replacement: `'object.written': (change, sequence, changes) => {
        if (change.source !== undefined) return [];`,
      },
    ],
    expected: { within: 3 },
  },
  {
    name: 'a front end keeps policies and credentials that have changed',
    edits: [
      {
        file: 'planes/s3/identity/credential-directory',
        search: 'if (version === this.#version && this.#known.size < CREDENTIALS_MAXIMUM)',
        replacement: 'if (this.#known.size < CREDENTIALS_MAXIMUM)',
      },
    ],
    expected: { within: 30 },
  },
  {
    name: 'a change that the rules refused is on record as a success',
    edits: [
      {
        file: 'engine/loop/engine',
        search: 'addEntry(batch, time, audit, resultOfRefusal(known.code), intent, []);',
        replacement: "addEntry(batch, time, audit, 'success', intent, []);",
      },
    ],
    expected: { within: 3, inhabitants: 30 },
  },
  {
    name: 'a list with a delimiter skips the keys that begin with the last key of a page',
    edits: [
      {
        file: 'projections/catalog/object-listing',
        search: "return { kind: this.#endsWithPrefix ? 'after-prefix' : 'after-key', bytes: Buffer.from(last) };",
        replacement:
          "return { kind: this.#delimiter !== undefined ? 'after-prefix' : 'after-key', bytes: Buffer.from(last) };",
      },
    ],
    expected: { within: 15 },
  },
  {
    name: 'an append is answered with the ETag from before it',
    edits: [
      {
        file: 'engine/domain/append',
        search: 'return { changes, etag: content.etag, ...selectorOf(version, context.sequence) };',
        replacement:
          'return { changes, etag: current?.etag ?? content.etag, ...selectorOf(version, context.sequence) };',
      },
    ],
    expected: { within: 30 },
  },
  {
    name: 'recovery drops the last batch, and asks nobody who knows of it',
    edits: [
      {
        file: 'engine/journal/recovery/refused-batch',
        search: 'const mark = this.#mark;',
        replacement: `this.#before = this.last;
        this.last = { offset: end, chain: { ...chain, head: Buffer.from(chain.head) } };
        this.#isFound = this.#before !== undefined;
        if (end > 0) return;
        const mark = this.#mark;`,
      },
      {
        file: 'engine/journal/recovery/recovery',
        search: 'for (const { name, sequence } of proofs) {',
        replacement: 'for (const { name, sequence } of []) {',
      },
    ],
    expected: { within: 3 },
  },
  {
    name: 'replay does not remove the rows of markers that are newest no more',
    edits: [
      {
        file: 'projections/apply/buffered-tables',
        search: 'this.#held.put(key, undefined);',
        replacement: "if (this.name !== 'markers') this.#held.put(key, undefined);",
      },
    ],
    expected: { within: 6 },
  },
  {
    name: 'locks are judged and given by the clock of the host alone',
    edits: [
      {
        file: 'engine/loop/engine',
        search: 'now: millisecondsOf(Math.floor(latest / 1000)),',
        replacement: 'now: millisecondsOf(Math.floor(time / 1000)),',
      },
    ],
    expected: { within: 3, inhabitants: 30 },
  },
  {
    name: 'projections are committed before the journal',
    edits: [
      {
        file: 'engine/loop/engine',
        search: 'this.#journal.commit();',
        replacement: 'done.isDecided = true;',
      },
      {
        file: 'engine/loop/engine',
        search: 'this.#journalIsAhead = true;',
        replacement: '',
      },
      {
        file: 'engine/loop/engine',
        search: 'return result;',
        replacement: `if (result.isDecided) {
                this.#journal.commit();
                this.#seal = undefined;
            }
            return result;`,
      },
    ],
    expected: { within: 3 },
  },
  {
    name: 'the place of a request is not given back when its client leaves in the middle of a body',
    edits: [
      {
        file: 'planes/exchange/exchange',
        search: 'this.journal.left(status, sentBytes);',
        replacement: 'return this.journal.left(status, sentBytes);',
      },
    ],
    // The process runs on for two minutes before it is ended: too long for a small share.
    expected: { within: 6 },
  },
  {
    name: 'every other mark of HEAD is written over the newest',
    edits: [
      {
        file: 'engine/journal/head-mark',
        search: '(this.#number % SLOTS) * SLOT_BYTES',
        replacement: '(Math.floor(this.#number / 2) % SLOTS) * SLOT_BYTES',
      },
    ],
    expected: {
      notWithin: 12,
      because: 'a power cut would have to tear the newest mark, and the journal to lose what only that mark knows',
    },
  },
  {
    name: 'a snapshot says a sequence that is one too low',
    edits: [
      {
        file: 'projections/snapshots/make-snapshot',
        search: 'const { records, position, written, isWhole } = followed;',
        replacement: `const { records, position: place, written, isWhole } = followed;
  const position = { ...place, sequence: place.sequence - 1 };`,
      },
    ],
    expected: { within: 12, inhabitants: 35 },
  },
  {
    name: 'the token of a rename is forgotten',
    edits: [
      {
        file: 'projections/apply/version-rows',
        search: 'renamed: source?.token === undefined ? undefined : { token: source.token, key: source.key },',
        replacement: 'renamed: undefined,',
      },
    ],
    expected: { within: 10 },
  },
  {
    name: 'a range inside a later part of an object is given from one byte too early',
    edits: [
      {
        file: 'planes/objects/read-object',
        search: 'const start = this.#position - this.#partStart;',
        replacement: `const isInside = this.#position > this.#partStart && this.#end - this.#partStart <= parts.size(this.#index);
        const early = this.#index > 0 && isInside ? 1 : 0;
        const start = this.#position - this.#partStart - early;`,
      },
      {
        file: 'planes/objects/read-object',
        search: 'const end = Math.min(parts.size(this.#index), this.#end - this.#partStart);',
        replacement: 'const end = Math.min(parts.size(this.#index), this.#end - this.#partStart) - early;',
      },
    ],
    expected: { within: 12, inhabitants: 30 },
  },
]
