/**
 * Kinds of fields in the journal: how a value is stored, and how it is read, with a check of its type
 * (spec/formats/journal.md).
 */

import type { BucketId, Microseconds, Milliseconds, PayloadId, Sequence, UploadId, VolumeNumber } from '../../brands.ts'

/**
 * A stored value does not have the form of its schema. The message has the place, the expected form and the found
 * value.
 */
export class FormError extends Error {
  override readonly name = 'FormError'
}

export interface Kind<T> {
  /** Its name in the page. */
  readonly page: string
  /** The stored form: what MessagePack holds. */
  encode(value: T): unknown
  /**
   * The value that was stored.
   * @param where - name of the field in the message
   * @throws FormError
   */
  decode(stored: unknown, where: string): T
}

/** The type of a kind in the program. */
export type ValueOf<K> = K extends Kind<infer T> ? T : never

/** The encoding of values that are stored as they are. */
export function asItIs(value: unknown): unknown {
  return value
}

/** @throws FormError always */
export function refuse(where: string, expected: string, stored: unknown): never {
  throw new FormError(`${where}: ${expected} expected, ${nameOf(stored)} found`)
}

function nameOf(stored: unknown): string {
  if (stored === null) return 'nil'
  if (stored instanceof Uint8Array) return `${stored.length} bytes`
  if (Array.isArray(stored)) return `an array of ${stored.length}`
  return typeof stored === 'string' ? 'text' : typeof stored === 'object' ? 'a map' : String(stored)
}

/**
 * A whole number from 0 (or another least one) to a greatest one. `T` is its brand. Another number is refused before it
 * is written as well: no reader would take its entry, and the journal would end there.
 */
export function whole<T extends number>(page: string, greatest = Number.MAX_SAFE_INTEGER, least = 0): Kind<T> {
  const isValid = (value: unknown) =>
    Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= greatest
  return {
    page,
    encode: (value) => (isValid(value) ? value : refuse('to be written', page, value)),
    decode: (stored, where) => (isValid(stored) ? (stored as T) : refuse(where, page, stored)),
  }
}

/** Text of a restricted form: it becomes a path, the key of a row or a header, so other text is refused early. */
export function textOf(page: string, isValid: (text: string) => boolean): Kind<string> {
  return {
    page,
    encode: asItIs,
    decode: (stored, where) => (typeof stored === 'string' && isValid(stored) ? stored : refuse(where, page, stored)),
  }
}

export const sequence = whole<Sequence>('sequence')
export const bucketId = whole<BucketId>('bucket id')
export const payloadId = whole<PayloadId>('payload id')
export const uploadId = whole<UploadId>('upload id')
/** 32 bits in the rows of payloads. */
export const volumeNumber = whole<VolumeNumber>('volume number', 2 ** 32 - 1)
/** Since 1970, up to the last moment that a `Date` holds. */
export const milliseconds = whole<Milliseconds>('milliseconds', 8.64e15)
/** Since 1970. */
export const microseconds = whole<Microseconds>('microseconds')
/** For values without a specific kind: bytes, days, objects. */
export const integer = whole<number>('integer')

export const text: Kind<string> = {
  page: 'text',
  encode: asItIs,
  decode: (stored, where) => (typeof stored === 'string' ? stored : refuse(where, 'text', stored)),
}

export const flag: Kind<boolean> = {
  page: 'flag',
  encode: asItIs,
  decode: (stored, where) => (typeof stored === 'boolean' ? stored : refuse(where, 'flag', stored)),
}

export const bytes: Kind<Uint8Array> = {
  page: 'bytes',
  encode: asItIs,
  decode: (stored, where) => (stored instanceof Uint8Array ? stored : refuse(where, 'bytes', stored)),
}

/** A SHA-256. */
export const digest: Kind<Uint8Array> = {
  page: '32 bytes',
  encode: asItIs,
  decode: (stored, where) =>
    stored instanceof Uint8Array && stored.length === 32 ? stored : refuse(where, '32 bytes', stored),
}

/** Name, value, name, value, in the order they were sent. */
export const pairs: Kind<readonly string[]> = {
  page: 'pairs',
  encode: asItIs,
  decode: (stored, where) => {
    if (!Array.isArray(stored) || stored.length % 2 !== 0) return refuse(where, 'pairs', stored)
    for (const one of stored) if (typeof one !== 'string') return refuse(where, 'pairs of text', one)
    return stored
  },
}

/** One of a few words, stored as its place among them. */
export function wordOf<W extends string>(words: readonly W[]): Kind<W> {
  const page = words.map((word, index) => `${index} ${word}`).join(' or ')
  return {
    page,
    encode: (word) => words.indexOf(word),
    decode: (stored, where) => (typeof stored === 'number' ? words[stored] : undefined) ?? refuse(where, page, stored),
  }
}

/** One of two words, stored as a flag. */
export function eitherOf<W extends string>(no: W, yes: W): Kind<W> {
  return {
    page: `false ${no} or true ${yes}`,
    encode: (word) => word === yes,
    decode: (stored, where) => (flag.decode(stored, where) ? yes : no),
  }
}

/** `undefined` is stored as nil. */
export function optional<T>(kind: Kind<T>): Kind<T | undefined> {
  return {
    page: `${kind.page} or nil`,
    encode: (value) => (value === undefined ? null : kind.encode(value)),
    decode: (stored, where) => (stored === null ? undefined : kind.decode(stored, where)),
  }
}

/** `undefined` is stored as 0, which no value of the kind is. */
export function orZero<T extends number>(kind: Kind<T>): Kind<T | undefined> {
  return {
    page: `${kind.page} or 0`,
    encode: (value) => value ?? 0,
    decode: (stored, where) => (stored === 0 ? undefined : kind.decode(stored, where)),
  }
}

export function listOf<T>(kind: Kind<T>): Kind<readonly T[]> {
  return {
    page: `array of ${kind.page}`,
    encode: kind.encode === asItIs ? asItIs : (values) => values.map((value) => kind.encode(value)),
    decode: (stored, where) =>
      Array.isArray(stored) ? stored.map((one) => kind.decode(one, where)) : refuse(where, 'array', stored),
  }
}
