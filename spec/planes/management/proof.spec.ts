/**
 * Proof bundles over the wire: every kind of object, and what has no proof.
 * Proves: DO-CAP-21, RES-OBJ-01, RES-BUN-01, RES-BUN-03, RES-BUN-04, RES-BUN-05, RES-BUN-06, RES-BUN-07, RES-BUN-08,
 * RES-BUN-09, RES-BUN-11, RES-KEY-01, VER-ANY-02.
 */
import { hash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import tap, { type Test, test } from 'tap'
import { payloadIdOf } from '../../../engine/brands.ts'
import { proofSigningSeed } from '../../../engine/keys/store-keys.ts'
import type { ProofBundle } from '../../../engine/proof/bundle-types.ts'
import { verifyBundle } from '../../../engine/proof/verify-bundle.ts'
import { ProofSigner } from '../../../engine/keys/proof-signer.ts'
import { systemAudit } from '../../../workers/system-audit.ts'
import { type ApiAnswer } from '../../support/api-client.ts'
import { startManaged } from '../../support/management-server.ts'
import { largePart, uploadWhole } from '../../support/multipart.ts'
import { sampleBytes } from '../../support/sample-bytes.ts'
import { MASTER_KEY } from '../../support/test-clients.ts'
import { createBucket, put, remove, setVersioning } from '../../support/wire-versions.ts'

const server = await startManaged()
tap.teardown(() => server.stop())
const { api } = server
await createBucket(server, 'plain')
await createBucket(server, 'versions')
await setVersioning(server, 'versions', 'enabled')

const SIGNER = new ProofSigner(proofSigningSeed(MASTER_KEY))

function prove(bucket: string, key: string, versionId?: string, client = api): Promise<ApiAnswer> {
  const query = versionId === undefined ? '' : `?version_id=${encodeURIComponent(versionId)}`
  return client.call('GET', `/buckets/${bucket}/object-proof/${encodeURIComponent(key)}${query}`)
}

/** A bundle must verify with the bytes of its object, and with no others. */
async function proves(t: Test, answer: ApiAnswer, bytes: Buffer, name: string): Promise<ProofBundle> {
  t.equal(answer.status, 200, `${name}: ${answer.code}`)
  const bundle = answer.json as ProofBundle
  const { public_key } = SIGNER.deployment
  const verdictWith = async (file: Buffer) => {
    const digestFile = async () => ({ sha256: hash('sha256', file), size: file.length })
    return (await verifyBundle(answer.body, { expectedPublicKey: public_key, digestFile })).verdict
  }
  t.equal(await verdictWith(bytes), 'verified', name)
  const changed = Buffer.concat([bytes.subarray(0, -1), Buffer.from([(bytes.at(-1) ?? 0) ^ 1])])
  t.equal(await verdictWith(changed), 'failed', `${name}, its last byte changed`)
  return bundle
}

test('a bundle says what is known of the version', async (t) => {
  const key = 'a/b c/%2f/ü😀'
  const bytes = Buffer.from('hello')
  await put(server, `plain/${key.split('/').map(encodeURIComponent).join('/')}`, bytes, [['content-type', 'text/x']])
  const shown = await api.get<{ created_at: string }>('GET', `/buckets/plain/object/${encodeURIComponent(key)}`)
  const bundle = await proves(t, await prove('plain', key), bytes, 'a small object')
  const { deployment, signature, ...rest } = bundle
  t.strictSame(rest, {
    format: 'object-store.proof-bundle',
    format_version: 1,
    object: {
      bucket: 'plain',
      key,
      version_id: 'null',
      size: 5,
      content_type: 'text/x',
      created_at: shown.created_at,
    },
    payload: { sha256: hash('sha256', bytes) },
    history: {
      status: 'unavailable',
      reason: 'not_yet_checkpointed',
      detail:
        'This deployment makes no checkpoints of its audit chain; the bundle proves the bytes and not the history.',
    },
  })
  t.match(deployment.public_key, /^[0-9a-f]{64}$/)
  t.match(signature, { algorithm: 'ed25519', canonical_version: 1, value: /^[0-9a-f]{128}$/ })
  t.same((await prove('plain', key)).body, (await prove('plain', key)).body, 'asked again it is the same')
})

test('objects of every kind', async (t) => {
  const large = sampleBytes(200_000)
  await put(server, 'plain/large', large)
  await proves(t, await prove('plain', 'large'), large, 'a large object')
  await put(server, 'plain/empty', '')
  const empty = await proves(t, await prove('plain', 'empty'), Buffer.alloc(0), 'an object of no bytes')
  t.notOk('content_type' in empty.object, 'without a content type there is none')
  await server.raw('PUT', '/plain/copied', { headers: [['x-amz-copy-source', '/plain/large']] })
  const copy = await proves(t, await prove('plain', 'copied'), large, 'a copy')
  t.equal(copy.object.key, 'copied')
})

test('each version has its own', async (t) => {
  const first = await put(server, 'versions/key', 'first')
  const second = await put(server, 'versions/key', 'second')
  const now = await proves(t, await prove('versions', 'key'), Buffer.from('second'), 'the current one')
  t.equal(now.object.version_id, second)
  const before = await proves(t, await prove('versions', 'key', first), Buffer.from('first'), 'the one before')
  t.equal(before.object.version_id, first)
  const marker = await remove(server, 'versions/key')
  t.equal((await prove('versions', 'key')).code, 'OBJECT_NOT_FOUND')
  t.match(await prove('versions', 'key', marker), { status: 409, code: 'VERSION_IS_MARKER' })
  await proves(t, await prove('versions', 'key', second), Buffer.from('second'), 'behind a delete marker')
  await remove(server, 'versions/key', second)
  t.match(await prove('versions', 'key', second), { status: 404, code: 'VERSION_NOT_FOUND' })
})

test('a multipart object has no proof until its digest is known', async (t) => {
  const parts = [largePart(1), Buffer.from('the end')]
  await uploadWhole(server, '/plain/parts', parts)
  await server.raw('PUT', '/plain/parts-copied', { headers: [['x-amz-copy-source', '/plain/parts']] })
  for (const key of ['parts', 'parts-copied']) {
    t.match(await prove('plain', key), { status: 409, code: 'DIGEST_PENDING' })
  }
  const bytes = Buffer.concat(parts)
  const [payload] = server.services.catalog.snapshot().digestsPending(2)
  await server.store.client.execute({
    kind: 'record-digest',
    audit: systemAudit('digest', 'payload.digest', `payload:${payload}`),
    payload: payloadIdOf(payload ?? 0),
    digest: hash('sha256', bytes, 'buffer'),
  })
  for (const key of ['parts', 'parts-copied']) await proves(t, await prove('plain', key), bytes, key)
  await uploadWhole(server, '/plain/empty-part', [''])
  t.match(await prove('plain', 'empty-part'), { status: 409, code: 'DIGEST_PENDING' }, 'even of no bytes')
})

test('encrypted objects are proved by the bytes that were sent', async (t) => {
  const encrypted = await startManaged({ encryptionEnabled: true })
  try {
    await createBucket(encrypted, 'sealed')
    for (const [key, bytes] of [['small', Buffer.from('secret')] as const, ['large', sampleBytes(200_000)] as const]) {
      await put(encrypted, `sealed/${key}`, bytes)
      await proves(t, await prove('sealed', key, undefined, encrypted.api), bytes, key)
    }
    t.same(encrypted.undocumented, [])
  } finally {
    await encrypted.stop()
  }
})

/** Starts a server, with an object if it has none, and gives the bundle of it. */
async function bundleOf(options: {
  readonly dataDirectory?: string
  readonly masterKey?: Buffer
}): Promise<ProofBundle> {
  const started = await startManaged(options)
  try {
    if ((await started.raw('HEAD', '/kept')).status !== 200) {
      await createBucket(started, 'kept')
      await put(started, 'kept/key', 'bytes')
    }
    return (await prove('kept', 'key', undefined, started.api)).json as ProofBundle
  } finally {
    await started.stop()
  }
}

test('the key is that of the master key: the same after a restart, another for another', async (t) => {
  const dataDirectory = mkdtempSync(join(tmpdir(), 'proof-spec-'))
  try {
    const before = await bundleOf({ dataDirectory })
    t.same(await bundleOf({ dataDirectory }), before, 'the same version has the same bundle')
    const other = await bundleOf({ masterKey: Buffer.alloc(32, 8) })
    t.not(other.deployment.public_key, before.deployment.public_key)
    t.not(other.deployment.key_id, before.deployment.key_id)
  } finally {
    rmSync(dataDirectory, { recursive: true })
  }
})

test('every answer is as the OpenAPI document says, and no request failed', async (t) => {
  t.same(server.undocumented, [])
  t.same(server.failures, [])
})
