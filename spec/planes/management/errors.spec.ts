/** Every error of the table of errors, each provoked over the wire at least once. */
/** Proves: STA-VRS-04, AUT-MGT-10, AUT-MET-02, ERR-MGT-01, ERR-MGT-03, ERR-MGT-04, ERR-OTH-01, ERR-OTH-07. */
import { clockErrors } from './clock-errors.ts'
import { treeErrors } from './tree-errors.ts'
import { closeSync, openSync, readdirSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import tap, { test } from 'tap'
import type { EngineClient } from '../../../engine/client/engine-client.ts'
import type { CheckpointState } from '../../../engine/checkpoints/state.ts'
import { timeStampRequest } from '../../../engine/checkpoints/time-stamp.ts'
import { systemAudit } from '../../../workers/system-audit.ts'
import { timeStampAuthority } from '../../support/time-stamp-authority.ts'
import { DomainError, EngineUnavailableError, OutcomeUnknownError } from '../../../engine/errors.ts'
import { type ManagementErrorCode, managementErrors } from '../../../planes/management/errors.ts'
import { API } from '../../../planes/management/routing/define-route.ts'
import { type ApiAnswer, bearer } from '../../support/api-client.ts'
import type { CreatedAccount, IssuedToken, PolicyRecord } from '../../support/management-records.ts'
import { signingOf } from '../../support/checkpoint-signing.ts'
import { startManaged } from '../../support/management-server.ts'
import { uploadWhole } from '../../support/multipart.ts'
import { createEmbed, createShare, makeLinks } from '../../support/sharing-commands.ts'
import { ACCESS_KEY } from '../../support/test-clients.ts'
import { WITNESS_ERRORS, WITNESSED_LOG } from '../../support/witness-errors.ts'

let now = Date.now()
let failure: Error | undefined
let [isAuditDown, isReadyFailing, isSharingDisabled] = [false, false, false]
const OF_ROOT = { name: 'of root', access_key: ACCESS_KEY, secret_key: 'x'.repeat(16) }

function down(): Promise<never> {
  return Promise.reject(new EngineUnavailableError('down'))
}

/** An engine that can be made to stop answering, as one does whose journal cannot be written. */
function breakable(engine: EngineClient): EngineClient {
  return {
    execute: (command) => {
      if (failure !== undefined) return Promise.reject(failure)
      return isAuditDown ? down() : engine.execute(command)
    },
    record: (...record) => (isAuditDown ? down() : engine.record(...record)),
    recordFailedChange: (...record) => (isAuditDown ? down() : engine.recordFailedChange(...record)),
  }
}

const ready = async () => {
  if (isReadyFailing) throw new Error('down')
  return []
}
const apiLimits = { operationsMaximum: 1, queueMaximum: 0 }
const sharing = () => ({ enabled: !isSharingDisabled })
const hooks = { clock: () => now, engine: breakable, ready, sharing }
const witnessFor = [WITNESSED_LOG.vkey]
const server = await startManaged({ ...hooks, apiLimits, witnessFor, inlineBytesMaximum: 1000 })
const full = await startManaged({ reservedBytes: 2 ** 52, scrapeToken: null })
tap.teardown(async () => {
  await server.stop()
  await full.stop()
})
const { api } = server
const OBJECTS = `${API}/buckets/errors/object`

await api.get('POST', '/buckets', { name: 'errors' })
await api.get('POST', '/buckets', { name: 'locked', object_lock: true })
await api.get('POST', '/buckets', { name: 'quota' })
await api.get('PUT', '/buckets/quota/quota', {
  quota: { bytes: { mode: 'limit', bytes: 3 }, objects: { mode: 'unlimited' } },
})
const { account } = await api.get<CreatedAccount>('POST', '/service-accounts', { name: 'errors' })
const auditor = await api.get<IssuedToken>('POST', '/management-tokens', { name: 'a', role: 'auditor' })
const ALLOW = { effect: 'allow', actions: ['s3:*'], resources: ['bucket:*'] }

function createPolicy(): Promise<PolicyRecord> {
  return api.get('POST', '/policies', { name: 'p', statements: [ALLOW] })
}

function put(target: string, raw: string, headers: readonly (readonly [string, string])[] = []): Promise<ApiAnswer> {
  return api.send('PUT', `${API}/buckets/${target}`, { raw, headers })
}

/** Writes an object under a lock and gives the path of its version. */
async function lockedVersion(key: string): Promise<string> {
  const until = new Date(now + 3_600_000).toISOString()
  const lock = [
    ['x-amz-object-lock-mode', 'COMPLIANCE'],
    ['x-amz-object-lock-retain-until-date', until],
  ] as const
  const { headers } = await server.raw('PUT', `/locked/${key}`, { body: 'x', headers: lock })
  return `/buckets/locked/object-versions/${key}?version_id=${String(headers['x-amz-version-id'])}`
}

async function markerVersion(): Promise<string> {
  await server.raw('PUT', '/locked/marked', { body: 'x' })
  const { headers } = await server.raw('DELETE', '/locked/marked')
  return String(headers['x-amz-version-id'])
}

async function damage(): Promise<void> {
  await put('errors/object/damaged', 'damaged'.repeat(400))
  const { files } = server.paths
  const [directory = ''] = readdirSync(files)
  const [name = ''] = readdirSync(`${files}/${directory}`)
  const file = openSync(`${files}/${directory}/${name}`, 'r+')
  writeSync(file, 'x', 2000)
  closeSync(file)
}

const WEBHOOK = { target_url: 'https://receiver.example/', event_types: ['object.created'] }

const EMBED = { allowed_origins: ['*'] }
const KEPT = { bucket: 'errors', key: 'kept' }

async function createWebhook(): Promise<string> {
  const { subscription } = await api.get<{ subscription: { id: string } }>('POST', '/webhooks', WEBHOOK)
  return subscription.id
}

const rotate = () => api.call('POST', '/transparency/key/rotate')
/** How each error is provoked. */
const PROVOKED: Readonly<Partial<Record<ManagementErrorCode, () => Promise<ApiAnswer>>>> = {
  NOT_FOUND: () => api.send('GET', '/none'),
  METHOD_NOT_ALLOWED: () => api.send('PATCH', '/health'),
  METRICS_CLOSED: () => full.api.send('GET', '/metrics'),
  UNAUTHENTICATED: () => api.as(undefined).call('GET', '/buckets'),
  FORBIDDEN: () => api.as(bearer(auditor.token)).call('POST', '/buckets', { name: 'of-the-auditor' }),
  INVALID_REQUEST: () => api.call('POST', '/buckets', { name: 'No' }),
  INVALID_AUDIT_CURSOR: () => api.call('GET', '/audit/events?after_id=0000000000000001'),
  INVALID_EVENT_CURSOR: () => api.call('GET', '/events?after_time=2026-11-01T00:00:00Z'),
  BODY_TOO_LARGE: () => api.send('POST', `${API}/buckets`, { raw: ' '.repeat(1024 ** 2 + 1) }),
  LENGTH_REQUIRED: () => put('errors/object/k', 'x', [['transfer-encoding', 'chunked']]),
  BUCKET_NOT_FOUND: () => api.call('GET', '/buckets/no-such-bucket'),
  BUCKET_EXISTS: () => api.call('POST', '/buckets', { name: 'errors' }),
  BUCKET_NOT_EMPTY: async () => {
    await put('errors/object/kept', 'x')
    return api.call('DELETE', '/buckets/errors')
  },
  BUCKET_STATE: () => api.call('PUT', '/buckets/locked/versioning', { status: 'Suspended' }),
  OBJECT_NOT_FOUND: () => api.send('GET', `${OBJECTS}/missing`),
  VERSION_NOT_FOUND: () => api.send('GET', `${OBJECTS}/kept?version_id=never-given-out`),
  VERSION_IS_MARKER: async () => api.call('GET', `/buckets/locked/object/marked?version_id=${await markerVersion()}`),
  VERSION_LOCKED: async () => api.call('DELETE', await lockedVersion('retained')),
  ...clockErrors(api, {
    step: (milliseconds) => (now += milliseconds),
    lockedVersion: () => lockedVersion('behind'),
    write: () => put('errors/object/ahead', ''),
  }),
  NOT_PREVIEWABLE: async () => {
    await put('errors/object/binary', '\u0000\u0001')
    return api.call('GET', '/buckets/errors/object-preview/binary')
  },
  OBJECT_TOO_LARGE: () => put('errors/object/k', '', [['content-length', String(5 * 1024 ** 3 + 1)]]),
  OBJECT_DAMAGED: async () => {
    await damage()
    return api.call('GET', '/buckets/errors/object-content/damaged')
  },
  STATE_DAMAGED: async () => {
    failure = new DomainError('row-damaged')
    const answer = await api.call('POST', '/buckets', { name: 'never-made' })
    failure = undefined
    return answer
  },
  QUOTA_EXCEEDED: () => put('quota/object/k', 'four'),
  VERIFICATION_RUNNING: async () => {
    const bucket = server.services.catalog.snapshot().bucket('errors')
    if (bucket === undefined || !server.heavy.claimBucket(bucket.id)) throw new Error('the bucket cannot be claimed')
    const answer = await api.call('POST', '/verify/buckets/errors')
    server.heavy.releaseBucket(bucket.id)
    return answer
  },
  CONFLICT: () => put('errors/object/kept', 'x', [['if-none-match', '*']]),
  ACCOUNT_NAME_TAKEN: () => api.call('POST', '/service-accounts', { name: 'Errors' }),
  ACCESS_KEY_TAKEN: () => api.call('POST', '/service-accounts', OF_ROOT),
  ACCOUNT_NOT_FOUND: () => api.call('GET', '/service-accounts/sa-none'),
  CREDENTIAL_NOT_FOUND: () =>
    api.call('PUT', `/service-accounts/${account.id}/credentials/cred-none/status`, { enabled: false }),
  TOO_MANY_CREDENTIALS: async () => {
    const path = `/service-accounts/${account.id}/credentials`
    for (let count = 1; count < 100; count += 1) await api.get('POST', path)
    return api.call('POST', path)
  },
  POLICY_NOT_FOUND: () => api.call('GET', '/policies/pol-none'),
  TOO_MANY_POLICIES: async () => {
    for (let count = 0; count < 100; count += 1) {
      const { id } = await createPolicy()
      await api.get('PUT', `/policies/${id}/bindings/${account.id}`)
    }
    return api.call('PUT', `/policies/${(await createPolicy()).id}/bindings/${account.id}`)
  },
  POLICY_NOT_ATTACHED: async () => api.call('DELETE', `/policies/${(await createPolicy()).id}/bindings/${account.id}`),
  TOKEN_NOT_FOUND: () => api.call('DELETE', '/management-tokens/tok-none'),
  LIFECYCLE_RULE_NOT_FOUND: () => api.call('DELETE', '/lifecycle-rules/rule-none'),
  TOO_MANY_LIFECYCLE_RULES: async () => {
    const rule = { prefix: '', enabled: false, expiration: 1 }
    let answer = await api.call('POST', '/buckets/quota/lifecycle', rule)
    while (answer.status === 201) answer = await api.call('POST', '/buckets/quota/lifecycle', rule)
    return answer
  },
  WEBHOOK_NOT_FOUND: () => api.call('DELETE', '/webhooks/wh-none'),
  TOO_MANY_WEBHOOKS: async () => {
    for (let count = 0; count < 100; count += 1) await createWebhook()
    const answer = await api.call('POST', '/webhooks', WEBHOOK)
    const { webhooks } = await api.get<{ webhooks: { id: string }[] }>('GET', '/webhooks')
    for (const { id } of webhooks) await api.get('DELETE', `/webhooks/${id}`)
    return answer
  },
  WEBHOOK_DISABLED: async () => {
    const id = await createWebhook()
    await api.get('PUT', `/webhooks/${id}/status`, { enabled: false })
    return api.call('POST', `/webhooks/${id}/replay`, { since: '2020-01-01T00:00:00Z' })
  },
  WEBHOOK_REPLAYING: async () => {
    const path = `/webhooks/${await createWebhook()}/replay`
    await api.get('POST', path, { since: '2020-01-01T00:00:00Z' })
    return api.call('POST', path, { since: '2020-01-01T00:00:00Z' })
  },
  SHARING_DISABLED: async () => {
    isSharingDisabled = true
    const answer = await api.call('POST', '/buckets/errors/object-shares/kept', {})
    isSharingDisabled = false
    return answer
  },
  SHARE_NOT_FOUND: () => api.call('GET', '/shares/share-none'),
  TOO_MANY_SHARES: async () => {
    await makeLinks(server.store.client, (name) => createShare(name, KEPT))
    return api.call('POST', '/buckets/errors/object-shares/kept', {})
  },
  EMBED_NOT_FOUND: () => api.call('GET', '/embeds/embed-none'),
  EMBED_REVOKED: async () => {
    const { id } = await api.get<{ id: string }>('POST', '/buckets/errors/object-embeds/kept', EMBED)
    await api.get('POST', `/embeds/${id}/revoke`)
    return api.call('PATCH', `/embeds/${id}`, { cache_seconds: 0 })
  },
  TOO_MANY_EMBEDS: async () => {
    await makeLinks(server.store.client, (name) => createEmbed(name, KEPT))
    return api.call('POST', '/buckets/errors/object-embeds/kept', EMBED)
  },
  CHECKPOINT_NOT_FOUND: () => api.call('GET', '/transparency/checkpoint'),
  RECEIPT_REFUSED: async () => {
    const signing = signingOf({ ...server.store, paths: server.paths })
    await signing.settle()
    await signing.close()
    return api.call('POST', '/transparency/receipts', { receipt: 'AAAA' })
  },
  CHECKPOINT_KEY_KEPT: () => rotate().then(rotate),
  TOO_MANY_RECEIPTS: async () => {
    const authority = timeStampAuthority(join(server.paths.root, 'authority'))
    const { size, bundleRoot } = server.session.checkpoints.last() as CheckpointState
    for (let byte = 0; byte < 64; byte += 1) {
      await server.store.client.execute({
        kind: 'record-receipt',
        audit: systemAudit('checkpoints', 'checkpoint.receipt', 'log'),
        receipt: { size, kind: 'lock', giver: 'x', receipt: Buffer.of(byte), assertedMicroseconds: undefined },
      })
    }
    const receipt = authority.answer(timeStampRequest(bundleRoot, undefined)).toString('base64')
    return api.call('POST', '/transparency/receipts', { receipt })
  },
  LOG_NOT_WITNESSED: () => WITNESS_ERRORS.LOG_NOT_WITNESSED(api),
  LOG_SIGNATURE_INVALID: () => WITNESS_ERRORS.LOG_SIGNATURE_INVALID(api),
  CONSISTENCY_REFUSED: () => WITNESS_ERRORS.CONSISTENCY_REFUSED(api),
  ...treeErrors(server),
  DIGEST_PENDING: async () => {
    await uploadWhole(server, '/errors/parts', ['part'])
    return api.call('GET', '/buckets/errors/object-proof/parts')
  },
  STORAGE_FULL: async () => {
    await full.api.get('POST', '/buckets', { name: 'full' })
    return full.api.send('PUT', `${API}/buckets/full/object/k`, { raw: 'x'.repeat(100_000) })
  },
  AUDIT_UNAVAILABLE: async () => {
    isAuditDown = true
    const answer = await api.call('POST', '/buckets', { name: 'never-made' })
    isAuditDown = false
    return answer
  },
  OUTCOME_UNKNOWN: async () => {
    failure = new OutcomeUnknownError('down, and nobody knows')
    const answer = await api.call('POST', '/buckets', { name: 'perhaps-made' })
    failure = undefined
    return answer
  },
  SLOW_DOWN: async () => {
    await server.apiGate.enter(server.apiGate.entryOf('somebody', false))
    const answer = await api.call('GET', '/buckets')
    server.apiGate.leave(server.apiGate.entryOf('somebody', false))
    return answer
  },
  INTERNAL_ERROR: async () => {
    isReadyFailing = true
    const answer = await api.send('GET', '/ready')
    isReadyFailing = false
    return answer
  },
}

test('no error is without a way to it', async (t) => {
  t.same(Object.keys(PROVOKED), Object.keys(managementErrors))
})

for (const [code, provoke] of Object.entries(PROVOKED)) {
  test(code, async (t) => {
    const { status, json, headers, requestId } = await provoke()
    const { error } = json as { error: { code: string; message: string; request_id: string } }
    t.equal(error.code, code)
    t.equal(status, managementErrors[code as ManagementErrorCode].status)
    t.same(Object.keys(error), ['code', 'message', 'request_id'])
    t.match(error.message, /^[a-zA-Z].*[^ ]$/)
    t.equal(error.request_id, requestId)
    t.equal(headers['content-type'], 'application/json')
  })
}

test('a change without an audit record is no change, and a read without one is no answer', async (t) => {
  isAuditDown = true
  for (const [method, path, body] of [
    ['GET', '/buckets'],
    ['GET', '/buckets/no-such-bucket'],
    ['POST', '/buckets', { name: 'never-made' }],
    ['POST', '/buckets', { name: '' }],
    ['DELETE', '/buckets/quota'],
    ['POST', '/service-accounts', { name: 'never-made' }],
    ['POST', '/policies', { name: 'never-made', statements: [ALLOW] }],
    ['POST', '/management-tokens', { name: 'never-made', role: 'auditor' }],
    ['DELETE', `/management-tokens/${auditor.id}`],
    ['DELETE', `/service-accounts/${account.id}`],
  ] as const) {
    const answer = await api.call(method, path, body)
    t.equal(answer.status, 503, `${method} ${path}`)
    t.equal(answer.code, 'AUDIT_UNAVAILABLE')
    t.match(server.exchanges.at(-1), { status: 503, reason: 'audit-unavailable' }, 'the log says why')
    t.notMatch(answer.text, /secret|osm_/)
  }
  const upload = await api.send('PUT', `${OBJECTS}/never-written`, { raw: 'x'.repeat(5000) })
  t.equal(upload.status, 503)
  t.equal((await api.as(undefined).call('GET', '/buckets')).status, 503, 'a refusal is recorded as well')
  isAuditDown = false
  t.equal((await api.call('GET', '/buckets/never-made')).status, 404)
  t.equal((await api.call('GET', '/buckets/quota')).status, 200)
  t.equal((await api.send('GET', `${OBJECTS}/never-written`)).status, 404)
  t.equal((await api.call('GET', `/service-accounts/${account.id}`)).status, 200)
  t.equal((await api.as(bearer(auditor.token)).call('GET', '/buckets')).status, 200)
  const { service_accounts: accounts } = await api.get<{ service_accounts: unknown[] }>('GET', '/service-accounts')
  t.equal(accounts.length, 1)
})

test('the document knew each of them', async (t) => {
  t.same(server.undocumented, [])
  t.same(full.undocumented, [])
  t.equal(server.apiGate.active, 0)
})
