import { hash } from 'node:crypto'
import type { Change } from '../../engine/events/changes.ts'
import { decodeAuditPart, decodeChanges } from '../../engine/events/entry-codec.ts'
import { type ObjectConditions, objectsOfRecord, type RecordObject } from '../../engine/events/record-objects.ts'
import { skipValue } from '../../engine/events/skip-message-pack.ts'

/**
 * What a record is found by: 40 bits of the SHA-256 of an object, a bucket or a principal. Different things may have the same
 * term, so a record that is found is compared with the question.
 */
type Term = number

type Kind = 'object' | 'bucket' | 'principal' | 'change' | 'created'

const TERM_BYTES = 5
/** An entry is an array of nine values, or of ten with changes. */
const [ARRAY_OF_NINE, ARRAY_OF_TEN] = [0x99, 0x9a]
const AUDIT_VALUES = 9

/** Names of objects have no zero byte before the key: names of buckets have none. */
function termOf(kind: Kind | 'unreadable', ...names: readonly string[]): Term {
  const digest = hash('sha256', [kind, ...names].join('\0'), 'binary')
  let term = 0
  for (let index = 0; index < TERM_BYTES; index += 1) term = term * 256 + digest.charCodeAt(index)
  return term
}

/** Of records that have no other term, because their bodies are no entries: they may be about anything, so every question gets them. */
export const UNREADABLE: Term = termOf('unreadable')

/** What the index is asked for. */
interface IndexedConditions extends ObjectConditions {
  readonly principal?: string | undefined
}

/** The term that all records have that a filter lets through, apart from unreadable ones; undefined where the index has none. */
export function termOfFilter({ bucket, key, principal }: IndexedConditions): Term | undefined {
  if (bucket !== undefined && key !== undefined) return termOf('object', bucket, key)
  if (principal !== undefined) return termOf('principal', principal)
  return bucket === undefined ? undefined : termOf('bucket', bucket)
}

/**
 * The terms of records that name an object: themselves, or in changes of buckets with these ids, which are those that ever had the
 * name.
 */
export function termsOfObject(bucket: string, key: string, bucketIds: Iterable<number>): Term[] {
  return [termOf('object', bucket, key), ...Array.from(bucketIds, (id) => termOf('change', String(id), key))]
}

/** The term of the records that created buckets of a name. */
export function termOfCreated(bucket: string): Term {
  return termOf('created', bucket)
}

/** Terms that were made before, so that principals, buckets and the outcome of an attempt are not hashed again. */
const KEPT_MAXIMUM = 4096

/** Finds the terms of one record after another. */
export class TermFinder {
  readonly #kept = new Map<string, Term>()

  /** The terms of an entry by its body. Some may be there more than once. */
  of(body: Buffer): Term[] {
    try {
      if (!isEntryForm(body)) return [UNREADABLE]
      const { principal, resource, metadata } = decodeAuditPart(body)
      const objects = objectsOfRecord(resource, metadata)
      const terms = [this.#term('principal', principal)]
      for (const { bucket, key } of objects) {
        terms.push(this.#term('bucket', bucket))
        if (key !== undefined) terms.push(this.#term('object', bucket, key))
      }
      if (body[0] === ARRAY_OF_TEN) this.#addChanges(terms, decodeChanges(body), objects)
      return terms
    } catch {
      return [UNREADABLE]
    }
  }

  /**
   * Keys in changes that the record does not name itself: of a rename, or of a record of the store itself. A record is about the
   * bucket of its changes, so that a key that it names is the key of that bucket.
   */
  #addChanges(terms: Term[], changes: readonly Change[], objects: readonly RecordObject[]): void {
    for (const change of changes) {
      if (change.name === 'bucket.created') terms.push(this.#term('created', change.bucket))
      const named = { texts: new Set<string>(), bucketIds: new Set<number>() }
      collectKeys(change, named)
      for (const text of named.texts) {
        if (objects.some(({ key }) => key === text)) continue
        for (const id of named.bucketIds) terms.push(this.#term('change', String(id), text))
      }
    }
  }

  #term(kind: Kind, ...names: readonly string[]): Term {
    const name = `${kind}\0${names.join('\0')}`
    const kept = this.#kept.get(name)
    if (kept !== undefined) return kept
    if (this.#kept.size >= KEPT_MAXIMUM) this.#kept.clear()
    const term = termOf(kind, ...names)
    this.#kept.set(name, term)
    return term
  }
}

/** Whether a body can be judged by every filter: its first nine values can be stepped over. */
function isEntryForm(body: Buffer): boolean {
  if (body[0] !== ARRAY_OF_NINE && body[0] !== ARRAY_OF_TEN) return false
  let at = 1
  for (let index = 0; index < AUDIT_VALUES; index += 1) at = skipValue(body, at)
  return at <= body.length
}

/** Keys and ids of buckets in a change, at any depth: every field that is the key of an object is called so. */
function collectKeys(value: unknown, named: { readonly texts: Set<string>; readonly bucketIds: Set<number> }): void {
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return
  for (const [name, part] of Object.entries(value)) {
    if (name === 'bucketId' && typeof part === 'number') named.bucketIds.add(part)
    else if (name === 'key' && typeof part === 'string') named.texts.add(part)
    else collectKeys(part, named)
  }
}
