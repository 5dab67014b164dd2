/**
 * What a proof bundle is made of, each held against another source than the code: RFCs, definitions, other libraries.
 * Proves: RES-BUN-03, RES-BUN-07, RES-BUN-08, RES-ENC-01, RES-TRE-01, RES-TRE-02, RES-TRE-05, RES-VER-07, RES-KEY-01,
 * AUT-S3P-07.
 */
import { hash } from 'node:crypto'
import { hkdf } from '@noble/hashes/hkdf.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { test } from 'tap'
import { proofSigningSeed } from '../../engine/keys/store-keys.ts'
import { CHECK_NAMES, proofReport } from '../../engine/proof/proof-report.ts'
import { isSigned } from '../../engine/proof/ed25519.ts'
import { leafHash, pathSides, rootOfPath } from '../../engine/proof/merkle.ts'
import { parseBundle } from '../../engine/proof/parse-bundle.ts'
import { proofMicroseconds } from '../../engine/proof/proof-time.ts'
import { parseStrictJson } from '../../engine/proof/strict-json.ts'
import { ProofSigner } from '../../engine/keys/proof-signer.ts'
import { treeRoot } from '../support/proofs/audit-tree.ts'
import { bundleBytes, historyOf, signed } from '../support/proofs/proof-statements.ts'

test('times', async (t) => {
  const good: readonly [text: string, microseconds: bigint][] = [
    ['1970-01-01T00:00:00Z', 0n],
    ['1970-01-01T00:00:00.000001Z', 1n],
    ['1970-01-01T00:00:00.1Z', 100_000n],
    ['1969-12-31T23:59:59.999999Z', -1n],
    ['2026-08-01T09:30:00+02:00', 1_785_569_400_000_000n],
    ['2026-08-01T07:00:00-00:30', 1_785_569_400_000_000n],
    ['2024-02-29T00:00:00Z', 1_709_164_800_000_000n],
    ['0000-01-01T00:00:00Z', -62_167_219_200_000_000n],
    ['9999-12-31T23:59:59.999999Z', 253_402_300_799_999_999n],
  ]
  for (const [text, microseconds] of good) t.equal(proofMicroseconds(text), microseconds, text)
  const bad = ['', '2026-08-01', '2026-08-01 09:30:00Z', '2026-08-01t09:30:00Z', '2026-08-01T09:30:00z']
  bad.push('2026-08-01T09:30:00', '2026-08-01T09:30:00.Z', '2026-08-01T09:30:00.0000000Z', '2026-08-01T09:30:00-00:00')
  bad.push('2026-02-29T00:00:00Z', '2026-04-31T00:00:00Z', '2026-00-01T00:00:00Z', '2026-13-01T00:00:00Z')
  bad.push('2026-08-01T24:00:00Z', '2026-08-01T09:60:00Z', '2026-12-31T23:59:60Z', '2026-08-01T09:30:00+24:00')
  bad.push('2026-08-01T09:30:00+01:60', '2026-08-01T09:30:00+0100', '+2026-08-01T09:30:00Z', ' 2026-08-01T09:30:00Z')
  bad.push('2026-08-01T09:30:00Z\n', '２０２６-08-01T09:30:00Z', '2026-08-00T09:30:00Z')
  for (const text of bad) t.equal(proofMicroseconds(text), undefined, JSON.stringify(text))
})

function read(text: string): unknown {
  return parseStrictJson(Buffer.from(text))
}

test('JSON that readers could take for two things is refused', async (t) => {
  const good = '{"a":[0,10,{"a":"\\\\\\"{:1.5","b":{}}],"":9007199254740991,"\\u00fc":null,"c":" : \\"x\\": "} \n'
  t.same(read(good), JSON.parse(good))
  const bad = ['{"a":1,"a":1}', '{"a":1,"\\u0061":2}', '[{"a":{"b":1,"b":2}}]', '{"__proto__":1,"__proto__":2}']
  bad.push('[1.0]', '[1e0]', '[-1]', '[-0]', '[1E+2]', '[9007199254740992]', '[1e400]', '[12345678901234567890]')
  bad.push('["\\ud800"]', '{"\\udc00":1}', '["\\udc00\\ud800"]', '\ufeff[]', '[01]', '[1,]', '', ' ', '[NaN]', "['a']")
  for (const text of bad) t.throws(() => read(text), { name: 'StrictJsonError' }, text)
  t.throws(() => parseStrictJson(Buffer.from('5b22ff225d', 'hex')), { name: 'StrictJsonError' }, 'no UTF-8')
  t.same(read('["\\ud83d\\ude00", "\\\\", "a\\\\\\\\"]'), ['😀', '\\', 'a\\\\'])
  t.same(read('0'), 0)
})

test('a leaf is no node: the hash of two leaves is not taken for a record', async (t) => {
  const hashes = ['a', 'b'].map((text) => Buffer.from(hash('sha256', text), 'hex'))
  const joined = Buffer.concat(hashes.map((each) => Buffer.from(leafHash(each))))
  const found = rootOfPath(leafHash(joined), 0, 1, [])
  t.not(found === undefined ? '' : Buffer.from(found).toString('hex'), treeRoot(hashes))
})

test('paths in trees that are too large to build', async (t) => {
  t.equal(pathSides(0, 2 ** 53 - 1).length, 53)
  t.equal(pathSides(2 ** 53 - 2, 2 ** 53 - 1).length, 52)
  t.same(pathSides(2 ** 52, 2 ** 52 + 1), ['left'], 'the odd leaf goes up unchanged to the top')
  t.equal(rootOfPath(new Uint8Array(32), 5, 5, []), undefined)
  t.equal(rootOfPath(new Uint8Array(32), 0, 0, []), undefined)
})

function bytes(hexadecimal: string): Buffer {
  return Buffer.from(hexadecimal, 'hex')
}

test('Ed25519: the vectors of RFC 8032 section 7.1, and what is refused', async (t) => {
  const vectors: readonly [publicKey: string, message: string, signature: string][] = [
    [
      'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a',
      '',
      'e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b',
    ],
    [
      '3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c',
      '72',
      '92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00',
    ],
    [
      'fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025',
      'af82',
      '6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a',
    ],
  ]
  for (const [publicKey, message, signature] of vectors) {
    t.ok(isSigned(bytes(signature), bytes(message), bytes(publicKey)))
    t.notOk(isSigned(bytes(signature), bytes(`${message}00`), bytes(publicKey)))
  }
  // y = 1 is the neutral point; y = p + 1 spells it again.
  const again = `ee${'ff'.repeat(30)}7f`
  for (const key of [`01${'00'.repeat(31)}`, again, '00'.repeat(32), `ec${'ff'.repeat(30)}7f`, 'ff'.repeat(32)]) {
    for (const point of [key, `01${'00'.repeat(31)}`]) {
      t.notOk(isSigned(bytes(`${point}${'00'.repeat(32)}`), Buffer.from('any text'), bytes(key)), key)
    }
  }
})

test('the signing key is derived as the specification says', async (t) => {
  const masterKey = Buffer.from('000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f', 'hex')
  const [salt, info] = ['object-store/proof-signing/v1', 'proof-bundle-signing-key'].map((text) => Buffer.from(text))
  t.same(proofSigningSeed(masterKey), Buffer.from(hkdf(sha256, masterKey, salt, info, 32)))
  // RFC 8032 section 7.1, test 1.
  const seed = Buffer.from('9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60', 'hex')
  const { deployment } = new ProofSigner(seed)
  t.same(deployment, {
    algorithm: 'ed25519',
    public_key: 'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a',
    key_id: hash('sha256', Buffer.from(deployment.public_key, 'hex')).slice(0, 16),
  })
  t.throws(() => new ProofSigner(seed.subarray(1)), 'a seed has 32 bytes')
})

/** Why a value is no bundle. */
function reasonOf(value: unknown): string {
  const parsed = parseBundle(bundleBytes(value))
  return parsed.kind === 'malformed' ? parsed.reason : parsed.kind
}

test('what a malformed bundle is told names the member', async (t) => {
  const bundle = signed({ history: historyOf(0, 2, [1]) })
  t.equal(reasonOf({ ...bundle, payload: {} }), 'payload.sha256: is missing')
  t.equal(reasonOf({ ...bundle, object: 'x' }), 'object: must be an object')
  t.equal(reasonOf({ ...bundle, history: { status: 'absent' } }), 'history.status: must be unavailable or present')
  t.equal(
    reasonOf({ ...bundle, history: { ...bundle.history, records: [{}] } }),
    'history.records[0].sequence: is missing',
  )
  t.equal(reasonOf({ ...bundle, history: { ...bundle.history, records: {} } }), 'history.records: must be a list')
  t.equal(reasonOf({ ...bundle, ['__proto__x']: 1 }), '__proto__x: unknown member')
  const polluting = JSON.stringify(bundle).replace('{', '{"__proto__":{"format":"x"},')
  t.match(parseBundle(Buffer.from(polluting)), { kind: 'malformed', reason: '__proto__: unknown member' })
  t.equal(reasonOf('text'), 'the document: must be an object')
})

test('a report has every check, whatever was performed', async (t) => {
  const report = proofReport(new Map(), undefined, 'Nothing was done.')
  t.same(
    report.checks.map(({ name, status }) => [name, status]),
    CHECK_NAMES.filter((name) => name !== 'records').map((name) => [name, 'not proved']),
    'that of records is about bundles of format version 2',
  )
  t.equal(report.verdict, 'not proved')
})
