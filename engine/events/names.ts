/**
 * Texts of changes that become paths, keys of rows or header lines. A forged journal may hold any text, so the form is
 * checked on every read, and not only in requests.
 */
import { isClientToken, isHeaderValue, isTagKey, isTagValue, KEY_BYTES_MAXIMUM } from '../domain/names.ts'
import { isPayloadName } from '../payloads/payload-ids.ts'
import { asItIs, type Kind, pairs, refuse, textOf, whole } from './schema/kinds.ts'

const BUCKET_NAME = /^[a-z0-9.-]{1,63}$/
const ORIGIN = /^[A-Za-z0-9._/-]{1,255}$/
const SIGNATURE_BYTES = 64
const START = /^[0-9a-f]{16}$/
const MD5 = /^[0-9a-f]{32}$/
/** LMDB fails on keys of a few KiB. */
const ID_BYTES_MAXIMUM = 255
/** Parts 1 to 10,000 as bits. */
const PART_SET_BYTES_MAXIMUM = 1251

function hasBytes(text: string, maximum: number): boolean {
  // A UTF-16 code unit takes at most three bytes of UTF-8, so most texts need no counting.
  return text.length > 0 && (text.length * 3 <= maximum || Buffer.byteLength(text) <= maximum)
}

/** Name of the file of a payload. */
export const payloadName = textOf('file name', isPayloadName)
/** Checks characters and length alone: reserved prefixes and suffixes depend on the version that created the bucket. */
export const bucketName = textOf('bucket name', (text) => BUCKET_NAME.test(text))
/** Key of an object. */
export const objectKey = textOf('key', (text) => hasBytes(text, KEY_BYTES_MAXIMUM))
/** Of an account, a credential, a policy or a token. */
export const identifier = textOf('id', (text) => hasBytes(text, ID_BYTES_MAXIMUM))
/** Sent back in a header. */
export const headerText = textOf('header text', isHeaderValue)
export const startName = textOf('start', (text) => START.test(text))
export const md5 = textOf('MD5', (text) => MD5.test(text))
/** Names a request (S3 API reference, RenameObject). */
export const clientToken = textOf('client token', isClientToken)
export const partNumber = whole<number>('part number', 10_000, 1)
export const checksum = whole<number>('CRC-32', 2 ** 32 - 1)
/** From a CRC-32 to a SHA-256. */
export const checksumValue: Kind<Uint8Array> = {
  page: '4 to 32 bytes',
  encode: asItIs,
  decode: (stored, where) =>
    stored instanceof Uint8Array && stored.length >= 4 && stored.length <= 32
      ? stored
      : refuse(where, '4 to 32 bytes', stored),
}
/** Bytes of a payload in a volume, which is read into memory at once. */
export const volumeLength = whole<number>('length in a volume', 2 ** 24)

/** Part numbers as bits: number n is bit n % 8 of byte n / 8. */
export const parts: Kind<Uint8Array> = {
  page: 'parts',
  encode: asItIs,
  decode: (stored, where) =>
    stored instanceof Uint8Array && stored.length <= PART_SET_BYTES_MAXIMUM ? stored : refuse(where, 'parts', stored),
}

/** Name, value, name, value, as they are sent back in headers. */
export const headerPairs: Kind<readonly string[]> = {
  page: 'header pairs',
  encode: asItIs,
  decode: (stored, where) => {
    const all = pairs.decode(stored, where)
    for (let at = 0; at < all.length; at += 2) {
      const [name, value] = [all[at] as string, all[at + 1] as string]
      if (name.includes(':') || !isHeaderValue(name)) return refuse(where, 'a name of a header', name)
      if (!isHeaderValue(value)) return refuse(where, 'a value of a header', value)
    }
    return all
  },
}

/** Key, value, key, value: the tags of a version or a bucket, in the order they were sent. */
export const tagPairs: Kind<readonly string[]> = {
  page: 'tags',
  encode: asItIs,
  decode: (stored, where) => {
    const all = pairs.decode(stored, where)
    for (let at = 0; at < all.length; at += 2) {
      const [key, value] = [all[at] as string, all[at + 1] as string]
      if (!isTagKey(key)) return refuse(where, 'a key of a tag', key)
      if (!isTagValue(value)) return refuse(where, 'a value of a tag', value)
    }
    return all
  },
}

/** Of the policy of a bucket (S3 user guide, "Bucket policies"). */
export const BUCKET_POLICY_BYTES_MAXIMUM = 20 * 1024

/** A policy of a bucket as it was sent: JSON. */
export const bucketPolicyText = textOf('policy', (text) => hasBytes(text, BUCKET_POLICY_BYTES_MAXIMUM))

/** A name of a log: no spaces and no plus, since it is part of notes and keys (C2SP signed-note). */
export const originText = textOf('name of a log', (text) => ORIGIN.test(text))

/** An entry has 32 KiB at most. */
export const RECEIPT_BYTES_MAXIMUM = 28 * 1024
const RECEIPT_GIVER = /^[!-~]{1,512}$/

/** Giver of a receipt, as it is shown. */
export const receiptGiver = textOf('giver of a receipt', (text) => RECEIPT_GIVER.test(text))

/** An outside party's statement about a checkpoint. */
export const receiptBytes: Kind<Uint8Array> = {
  page: '1 to 28672 bytes',
  encode: asItIs,
  decode: (stored, where) =>
    stored instanceof Uint8Array && stored.length >= 1 && stored.length <= RECEIPT_BYTES_MAXIMUM
      ? stored
      : refuse(where, '1 to 28672 bytes', stored),
}

/** An Ed25519 signature. */
export const signature64: Kind<Uint8Array> = {
  page: '64 bytes',
  encode: asItIs,
  decode: (stored, where) =>
    stored instanceof Uint8Array && stored.length === SIGNATURE_BYTES ? stored : refuse(where, '64 bytes', stored),
}
