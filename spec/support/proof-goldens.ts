/** The golden proof bundles: valid ones, and ones that lie, each by a name. */
import { createPrivateKey, hash, sign } from 'node:crypto'
import { proofSigningSeed } from '../../cli/store/master-key-check.ts'
import type { ProofBundle, ProofHistory, UnsignedBundle } from '../../engine/proof/bundle-types.ts'
import { canonicalBytes } from '../../engine/proof/canonical.ts'
import {
  bundleBytes,
  GOLDEN_MASTER_KEY,
  GOLDEN_OBJECT,
  historyOf,
  signed,
  signer,
  stranger,
  unsignedOf,
} from './proof-statements.ts'

type Present = Extract<ProofHistory, { status: 'present' }>

const { content_type: _, ...UNTYPED } = GOLDEN_OBJECT
const RECEIPT = Buffer.from('a receipt').toString('base64')
const ANCHOR = { kind: 'rfc3161', receipt: RECEIPT, asserted_at: '2026-08-01T10:00:00Z' }
/** Two adjacent records and one apart, in a tree of odd size on two levels. */
const HISTORY = historyOf(40, 50, [42, 43, 50], ANCHOR)

export const VALID: Readonly<Record<string, ProofBundle>> = {
  unavailable: signed(),
  'without-type': signed({ object: { ...UNTYPED, version_id: 'null', created_at: '1969-12-31T23:59:59.999999Z' } }),
  'chain-not-enabled': signed({ history: { status: 'unavailable', reason: 'chain_not_enabled', detail: '' } }),
  'predates-chain': signed({ history: { status: 'unavailable', reason: 'version_predates_chain', detail: 'old' } }),
  history: signed({ history: HISTORY }),
  'anchor-without-time': signed({ history: historyOf(0, 6, [6], { kind: 'rfc3161', receipt: RECEIPT }) }),
  'without-anchor': signed({ history: historyOf(7, 19, [8, 9, 10, 15]) }),
  'one-leaf': signed({ history: historyOf(5, 5, [5]) }),
  'no-neighbours': signed({ history: historyOf(2 ** 40, 2 ** 40 + 4, [2 ** 40, 2 ** 40 + 4]) }),
}

/** Signs whatever is stated, as the deployment would if it lied. */
function resigned(statement: UnsignedBundle): ProofBundle {
  const seed = proofSigningSeed(GOLDEN_MASTER_KEY)
  const der = Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), seed])
  const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
  const value = sign(null, canonicalBytes(statement), key).toString('hex')
  return { ...statement, signature: { algorithm: 'ed25519', canonical_version: 1, value } }
}

function withHistory(change: (history: Present) => Partial<Present>): ProofBundle {
  return signed({ history: { ...HISTORY, ...change(HISTORY) } })
}

/** The history with its record at an index changed. */
function withRecord(at: number, change: (record: Present['records'][number]) => object): ProofBundle {
  return withHistory(({ records }) => ({
    records: records.map((record, index) => (index === at ? { ...record, ...change(record) } : record)),
  }))
}

function withPath(at: number, change: (path: Present['records'][number]['inclusion_path']) => object): ProofBundle {
  return withRecord(at, ({ inclusion_path }) => ({ inclusion_path: { ...inclusion_path, ...change(inclusion_path) } }))
}

function withCheckpoint(change: Partial<Present['checkpoint']>): ProofBundle {
  return withHistory(({ checkpoint }) => ({ checkpoint: { ...checkpoint, ...change } }))
}

/** The neutral point as key and the neutral point with 0 as signature: it holds for every text when nobody looks. */
function smallOrderKey(): ProofBundle {
  const neutral = `01${'00'.repeat(31)}`
  const key_id = hash('sha256', Buffer.from(neutral, 'hex')).slice(0, 16)
  const bundle = signed()
  return {
    ...bundle,
    deployment: { ...bundle.deployment, public_key: neutral, key_id },
    signature: { ...bundle.signature, value: `${neutral}${'00'.repeat(32)}` },
  }
}

const GROUP_ORDER = 2n ** 252n + 27742317777372353535851937790883648493n

/** Bytes in hexadecimal, the last one first. */
function reversed(hexadecimal: string): string {
  return Buffer.from(Buffer.from(hexadecimal, 'hex').toReversed()).toString('hex')
}

/** The same signature with the order of the group added to its second half. */
function secondSpelling({ signature: { value, ...rest }, ...bundle }: ProofBundle): ProofBundle {
  const scalar = reversed(value.slice(64))
  const other = (BigInt(`0x${scalar}`) + GROUP_ORDER).toString(16).padStart(64, '0')
  return { ...bundle, signature: { ...rest, value: value.slice(0, 64) + reversed(other) } }
}

const PLAIN = signed()
const PLAIN_TEXT = JSON.stringify(PLAIN)
const ZEROS = '00'.repeat(32)

function edited(from: string, to: string): Buffer {
  if (!PLAIN_TEXT.includes(from)) throw new Error(`${from} is not in the bundle`)
  return Buffer.from(PLAIN_TEXT.replace(from, to))
}

/** Bundles that must not be taken for proofs, most of them with a good signature. */
export const BROKEN: Readonly<Record<string, Buffer>> = {
  'changed-key': bundleBytes({ ...PLAIN, object: { ...PLAIN.object, key: 'another' } }),
  'changed-size': bundleBytes({ ...PLAIN, object: { ...PLAIN.object, size: PLAIN.object.size + 1 } }),
  'changed-time': edited('00.123456Z', '00.123457Z'),
  'changed-digest': bundleBytes({ ...PLAIN, payload: { sha256: ZEROS } }),
  'changed-detail': edited('No checkpoint', 'No Checkpoint'),
  'signed-false-digest': bundleBytes(signed({ sha256: ZEROS })),
  'signed-false-size': bundleBytes(signed({ object: { ...GOLDEN_OBJECT, size: 0 } })),
  'other-deployment': bundleBytes(signed({}, stranger)),
  'key-of-another': bundleBytes({ ...PLAIN, deployment: stranger.deployment }),
  'false-key-id': bundleBytes(
    resigned({ ...unsignedOf(PLAIN), deployment: { ...signer.deployment, key_id: stranger.deployment.key_id } }),
  ),
  'signature-of-another': bundleBytes({ ...PLAIN, signature: signed({ object: UNTYPED }).signature }),
  'signature-spelled-again': bundleBytes(secondSpelling(PLAIN)),
  'key-of-small-order': bundleBytes(smallOrderKey()),
  'newer-format': bundleBytes({ format: PLAIN.format, format_version: 2, anything: [1, 'else'] }),
  'newer-format-signed': bundleBytes(resigned({ ...unsignedOf(PLAIN), format_version: 2 })),
  'format-version-0': bundleBytes(resigned({ ...unsignedOf(PLAIN), format_version: 0 })),
  'other-format': bundleBytes(resigned({ ...unsignedOf(PLAIN), format: 'object-store.other' })),
  'newer-encoding': bundleBytes({ ...PLAIN, signature: { ...PLAIN.signature, canonical_version: 2 } }),
  'encoding-version-0': bundleBytes({ ...PLAIN, signature: { ...PLAIN.signature, canonical_version: 0 } }),
  'other-signature-algorithm': edited('"signature":{"algorithm":"ed25519"', '"signature":{"algorithm":"ed448"'),
  'other-key-algorithm': bundleBytes(
    resigned({ ...unsignedOf(PLAIN), deployment: { ...signer.deployment, algorithm: 'none' } }),
  ),
  'unknown-member': bundleBytes({ ...PLAIN, note: 'nobody signed this' }),
  'unknown-inner-member': bundleBytes({ ...PLAIN, object: { ...PLAIN.object, etag: 'nobody signed this' } }),
  'missing-history': bundleBytes({ ...PLAIN, history: undefined }),
  'missing-signature': bundleBytes({ ...PLAIN, signature: undefined }),
  'null-type': bundleBytes({ ...PLAIN, object: { ...PLAIN.object, content_type: null } }),
  'member-twice': edited('"bucket":"golden"', '"bucket":"shown","bucket":"golden"'),
  'escaped-member-twice': edited('"bucket":"golden"', '"bucke\\u0074":"shown","bucket":"golden"'),
  'number-with-fraction': edited(`"size":${PLAIN.object.size}`, `"size":${PLAIN.object.size}.0`),
  'number-with-exponent': edited(`"size":${PLAIN.object.size}`, `"size":${PLAIN.object.size}e0`),
  'number-as-text': edited(`"size":${PLAIN.object.size}`, `"size":"${PLAIN.object.size}"`),
  'half-surrogate': edited('ü-€', '\\ud800'),
  'upper-case': bundleBytes({ ...PLAIN, payload: { sha256: PLAIN.payload.sha256.toUpperCase() } }),
  'seventh-digit': edited('00.123456Z', '00.1234560Z'),
  'small-letters-in-time': edited('T09:30:00.123456Z', 't09:30:00.123456z'),
  'byte-order-mark': Buffer.concat([Buffer.from('efbbbf', 'hex'), bundleBytes(PLAIN)]),
  'cut-short': bundleBytes(PLAIN).subarray(0, -1),
  empty: Buffer.alloc(0),
  'not-an-object': Buffer.from('[]'),
  'deep-nesting': Buffer.from('['.repeat(5000) + ']'.repeat(5000)),
  'leaf-count-0': bundleBytes(withCheckpoint({ leaf_count: 0 })),
  'leaf-count-too-large': bundleBytes(withCheckpoint({ leaf_count: 12 })),
  'span-too-large': bundleBytes(withCheckpoint({ to_sequence: 51 })),
  'span-reversed': bundleBytes(withCheckpoint({ from_sequence: 60 })),
  'other-root': bundleBytes(withCheckpoint({ root: ZEROS })),
  'index-of-another': bundleBytes(withPath(0, ({ index }) => ({ index: index + 1 }))),
  'index-too-large': bundleBytes(withPath(2, () => ({ index: 11 }))),
  'path-too-short': bundleBytes(withPath(0, ({ steps }) => ({ steps: steps.slice(0, -1) }))),
  'path-too-long': bundleBytes(withPath(2, ({ steps }) => ({ steps: [...steps, ...steps.slice(0, 1)] }))),
  'path-of-another': bundleBytes(withPath(0, () => ({ steps: HISTORY.records[1]?.inclusion_path.steps ?? [] }))),
  'sides-exchanged': bundleBytes(
    withPath(0, ({ steps }) => ({
      steps: steps.map((step) => ({ ...step, side: step.side === 'left' ? 'right' : 'left' })),
    })),
  ),
  'other-record-hash': bundleBytes(withRecord(0, () => ({ record_hash: ZEROS }))),
  'broken-link': bundleBytes(withRecord(1, () => ({ previous_hash: ZEROS }))),
  'record-twice': bundleBytes(withHistory(({ records }) => ({ records: [...records, ...records.slice(0, 1)] }))),
  'no-records': bundleBytes(withHistory(() => ({ records: [] }))),
  'stray-bits-in-receipt': bundleBytes(withHistory(() => ({ anchor: { kind: 'rfc3161', receipt: 'QR==' } }))),
}
