/**
 * Proof bundles of format version 2: what they say of each record is bound to the hash that is in the tree.
 * Proves: RES-BUN-04, VER-ANY-02, VER-ANY-04.
 */
import { spawnSync } from 'node:child_process'
import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import tap, { type Test, test } from 'tap'
import { ProofSigner } from '../../../engine/keys/proof-signer.ts'
import { proofSigningSeed } from '../../../engine/keys/store-keys.ts'
import { base64Bytes } from '../../../engine/proof/base64.ts'
import type { ProofBundle, ProofHistory, ProofRecord } from '../../../engine/proof/bundle-types.ts'
import { readStoredRecord } from '../../../engine/proof/stored-record.ts'
import { verifyBundle } from '../../../engine/proof/verify-bundle.ts'
import { signingOf } from '../../support/checkpoint-signing.ts'
import { startManaged } from '../../support/management-server.ts'
import { STRANGER } from '../../support/proofs/proof-verdicts.ts'
import { MASTER_KEY } from '../../support/test-clients.ts'
import { createBucket, put } from '../../support/wire-versions.ts'

const NO_CHECKPOINT = {
  treeSize: undefined,
  signed: 0,
  mendedHashes: 0,
  waitsFor: [],
  refusal: undefined,
  refusalCode: undefined,
}
const server = await startManaged({ checkpointFacts: () => ({ isOn: true, ...NO_CHECKPOINT }) })
tap.teardown(() => server.stop())
const { api, store, paths } = server
let now = Date.now()
const signing = signingOf({ ...store, paths }, { intervalSeconds: 1, clock: () => now })
tap.teardown(() => signing.close())

const SIGNER = new ProofSigner(proofSigningSeed(MASTER_KEY))
const BYTES = 'bytes'
const PATH = '/buckets/proofs/object-proof/object'
type Present = Extract<ProofHistory, { status: 'present' }>

const get = (query = ''): Promise<ProofBundle> => api.get<ProofBundle>('GET', `${PATH}${query}`)

await createBucket(server, 'proofs')
await put(server, 'proofs/object', BYTES)
const unavailable = await get('?format_version=2')
now = Math.max(now, Date.now()) + 10_000
await signing.settle()
const [first, second] = [await get(), await get('?format_version=2')]

function presentIn({ history }: ProofBundle): Present {
  if (history.status !== 'present') throw new Error(history.detail)
  return history
}

const EVIDENCE = {
  expectedPublicKey: SIGNER.deployment.public_key,
  digestFile: async () => ({ sha256: hash('sha256', BYTES), size: BYTES.length }),
}
const VERIFIED = { verdict: 'verified', records: undefined }
const FAILED = { verdict: 'failed', records: 'failed' }

interface Judged {
  readonly verdict: string
  readonly records: string | undefined
}

/** What both verifiers say of bundles, by name; they must agree. */
async function judge(t: Test, bundles: Readonly<Record<string, unknown>>): Promise<Record<string, Judged>> {
  const documents = Object.entries(bundles).map(([name, bundle]) => [name, JSON.stringify(bundle)] as const)
  const directory = t.testdir({ file: BYTES, bundles: Object.fromEntries(documents) })
  const files = documents.map(([name]) => join(directory, 'bundles', name))
  const words = ['--public-key', SIGNER.deployment.public_key, `${directory}/file`, ...files]
  const { stdout } = spawnSync('python3', ['-B', STRANGER, ...words], { encoding: 'utf8' })
  const lines = stdout.trimEnd().split('\n')
  const judged: Record<string, Judged> = {}
  for (const [at, [name, document]] of documents.entries()) {
    const { verdict, checks } = await verifyBundle(Buffer.from(document), EVIDENCE)
    const ours = Object.fromEntries(checks.map((check) => [check.name, check.status]))
    t.match(JSON.parse(lines[at] ?? '{}'), { bundle: name, verdict, checks: ours }, `${name}: the verifiers agree`)
    judged[name] = { verdict, records: ours['records'] }
  }
  return judged
}

function mapped<T, R>(values: Readonly<Record<string, T>>, made: (value: T) => R): Record<string, R> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, made(value)]))
}

/** Signed by the key of the deployment, with something else in the first record. */
function resigned(bundle: ProofBundle, changed: Partial<ProofRecord>): ProofBundle {
  const history = presentIn(bundle)
  const records = history.records.map((record, at) => (at === 0 ? { ...record, ...changed } : record))
  const { object, payload, format_version: version } = bundle
  return SIGNER.sign({ object, sha256: payload.sha256, history: { ...history, records }, version })
}

test('a bundle is of format version 1 unless another is asked for', async (t) => {
  t.match(first, { format_version: 1, signature: { canonical_version: 1 } })
  t.ok(presentIn(first).records.every((record) => !('record' in record)))
  t.same(await judge(t, { first }), { first: VERIFIED })
  t.same(await get('?format_version=1'), first)
  t.match(await api.call('GET', `${PATH}?format_version=3`), { status: 400 })
})

test('format version 2 has the records themselves', async (t) => {
  t.match(second, { format_version: 2, signature: { canonical_version: 2 } })
  const { records } = presentIn(second)
  t.same(
    records,
    presentIn(first).records.map((stated, at) => ({ ...stated, record: records[at]?.record })),
    'beside what version 1 says',
  )
  for (const { record = '', ...stated } of records) {
    t.match(readStoredRecord(base64Bytes(record)), {
      hash: stated.record_hash,
      operation: 's3:PUT',
      principal: 'system:root',
    })
  }
  t.same(await judge(t, { second, unavailable }), {
    second: { verdict: 'verified', records: 'passed' },
    unavailable: { verdict: 'verified', records: 'not proved' },
  })
})

test('a server that lies about a record is found by version 2, and version 1 says that it is not', async (t) => {
  const { timestamp, sequence } = presentIn(second).records[0] as ProofRecord
  const lies: Readonly<Record<string, Partial<ProofRecord>>> = {
    operation: { operation: 's3:DELETE' },
    principal: { principal: 'service_account:somebody-else' },
    result: { result: 'denied' },
    timestamp: { timestamp: timestamp.replace(/^\d{4}/, '2020') },
  }
  const told = (bundle: ProofBundle) => mapped(lies, (lie) => resigned(bundle, lie))
  t.same(
    await judge(t, told(second)),
    mapped(lies, () => FAILED),
  )
  t.same(
    await judge(t, told(first)),
    mapped(lies, () => VERIFIED),
    'not bound',
  )
  const { checks } = await verifyBundle(Buffer.from(JSON.stringify(first)), {})
  t.match(
    checks.find(({ name }) => name === 'inclusion')?.sentence,
    /operation, principal, result and time .* are not bound/,
  )
  const lied = await verifyBundle(Buffer.from(JSON.stringify(resigned(second, lies['operation'] ?? {}))), {})
  t.equal(
    lied.checks.find(({ name }) => name === 'records')?.sentence,
    `The record ${sequence} is not what the bundle says of it: its bytes have another operation.`,
  )
})

test('bytes that are not the record are refused, signed or not', async (t) => {
  const [attempt, outcome] = presentIn(second).records as [ProofRecord, ProofRecord]
  const bytes = Buffer.from(attempt.record ?? '', 'base64')
  const without = { ...attempt }
  delete (without as { record?: string }).record
  const forged: Readonly<Record<string, Buffer>> = {
    'of another record': Buffer.from(outcome.record ?? '', 'base64'),
    empty: Buffer.alloc(0),
    cut: bytes.subarray(0, -1),
    longer: Buffer.concat([bytes, Buffer.alloc(1)]),
    'its frame alone': bytes.subarray(0, 56),
  }
  const bundles = mapped(forged, (record) => resigned(second, { record: record.toString('base64') }))
  t.same(
    await judge(t, bundles),
    mapped(forged, () => FAILED),
  )
  for (let at = 0; at < bytes.length; at += 7) {
    const flipped = Buffer.from(bytes)
    flipped[at] = (flipped[at] ?? 0) ^ 1
    const bundle = resigned(second, { record: flipped.toString('base64') })
    t.equal((await verifyBundle(Buffer.from(JSON.stringify(bundle)), {})).verdict, 'failed', `byte ${at}`)
  }
  const history = presentIn(second)
  const unbound = { ...second, history: { ...history, records: [without, outcome] } }
  const mixed = { ...first, history: { ...presentIn(first), records: history.records } }
  const neither = { verdict: 'failed', records: undefined }
  t.same(await judge(t, { unbound, mixed }), { unbound: neither, mixed: neither }, 'the member is of version 2')
})

test('version 2 over another encoding is as a version that nobody has defined', async (t) => {
  const signature = { ...second.signature, canonical_version: 1 }
  const bundles = {
    'other-encoding': { ...second, signature },
    'said-to-be-2': { ...first, format_version: 2 },
    3: { ...second, format_version: 3 },
  }
  t.same(
    await judge(t, bundles),
    mapped(bundles, () => ({ verdict: 'not proved', records: undefined })),
  )
})

test('no body of a record ends a verifier', async (t) => {
  const frame = Buffer.from(presentIn(second).records[0]?.record ?? '', 'base64').subarray(0, 56)
  const bodies = ['', '90', '96', 'dc', 'dc0006', '9600', '9601d9', '9601daffff', '96a0a0c0c0c0a0', '9600a1ffc0c0c0a0']
  const forged: Record<string, ProofBundle> = {}
  for (const body of [...bodies, '96c0a0c0c0c0a0', '9604a0c0c0c0a0', '9600a0c0c0c0c0', '9600a0c090c0a0']) {
    const record = Buffer.concat([frame, Buffer.from(body, 'hex')])
    record.writeUInt32BE(record.length - frame.length, 0)
    t.equal(readStoredRecord(record), undefined, body)
    forged[`body-${body}`] = resigned(second, { record: record.toString('base64') })
  }
  t.same(
    await judge(t, forged),
    mapped(forged, () => FAILED),
  )
})

test('a bundle that was given out once is verified for ever', async (t) => {
  const golden = 'spec/golden/proof-v2'
  const bundle = readFileSync(join(golden, 'history.json'))
  const file = readFileSync(join(golden, 'file.txt'))
  const key = readFileSync(join(golden, 'public-key.txt'), 'utf8').trim()
  const digestFile = async () => ({ sha256: hash('sha256', file), size: file.length })
  const { verdict, checks } = await verifyBundle(bundle, { expectedPublicKey: key, digestFile })
  t.equal(verdict, 'verified')
  t.match(checks.find(({ name }) => name === 'records')?.status, 'passed')
  const words = ['-B', STRANGER, '--public-key', key, join(golden, 'file.txt'), join(golden, 'history.json')]
  t.equal(spawnSync('python3', words).status, 0)
})
