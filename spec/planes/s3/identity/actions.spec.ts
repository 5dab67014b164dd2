/**
 * S13: every operation against its action, both ways: with it alone it passes, with all but it it does not.
 * Proves: AUT-S3P-04, AUT-S3P-10, AUT-S3P-11.
 */
import tap, { test } from 'tap'
import { EXTENSIONS } from '../../../../planes/objects/s3-extensions.ts'
import { S3_ACTIONS } from '../../../../planes/s3/authorize.ts'
import { OPERATIONS } from '../../../../planes/s3/operation-list.ts'
import type { Operation } from '../../../../planes/s3/handling/operation.ts'
import { allow, deny, type Identity, newIdentity } from '../../../support/identities.ts'
import { startManaged } from '../../../support/management-server.ts'
import { tableWith } from '../../../support/pages/markdown-tables.ts'
import type { RawRequest } from '../../../support/wire-client.ts'
import { removeAll } from '../../../support/wire-deletions.ts'
import { createLockBucket } from '../../../support/wire-locks.ts'
import { put } from '../../../support/wire-versions.ts'

/** With all extensions: what is off is refused whatever anybody may do. */
const server = await startManaged({ extensions: EXTENSIONS })
const identities = new Map<string, Identity>()
tap.teardown(async () => {
  for (const { s3 } of identities.values()) s3.destroy()
  await server.stop()
})

const { raw } = server

await createLockBucket(server, 'actions')
await put(server, 'actions/source', 'x')

const ALL = [...S3_ACTIONS]

/** The account that may do so much everywhere. */
async function identityWith(actions: readonly string[]): Promise<Identity> {
  const name = actions.toSorted().join()
  const known = identities.get(name)
  if (known !== undefined) return known
  const made = await newIdentity(server, [allow(actions, 'bucket:*')])
  identities.set(name, made)
  return made
}

interface Case {
  readonly name: string
  readonly target: string
  readonly request: RawRequest
  readonly method: string
  /** Everything that the operation needs, the first being its own action. */
  readonly actions: readonly string[]
  readonly coveredBy: string | undefined
}

const VERSIONING = '<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>'
const BODIES: Readonly<Record<string, string>> = {
  PutBucketVersioning: VERSIONING,
  PutObject: 'x',
  UploadPart: 'x',
  PutObjectLegalHold: '<LegalHold><Status>OFF</Status></LegalHold>',
}

/** A request that the table recognizes as the operation. Whether it succeeds does not matter here. */
function caseOf(operation: Operation, versionId?: string): Case {
  const { name, method, level, subresource, mark, action, versionAction, coveredBy, besides } = operation
  const path = level === 'service' ? '/' : level === 'bucket' ? '/actions' : '/actions/key'
  const query = [subresource]
  if (mark?.query !== undefined) query.push(mark.value === undefined ? mark.query : `${mark.query}=${mark.value}`)
  if (subresource === 'uploadId') query[0] = 'uploadId=none'
  if (name.startsWith('UploadPart')) query.push('partNumber=1')
  if (versionId !== undefined) query.push(`versionId=${versionId}`)
  const source = name === 'RenameObject' ? 'x-amz-rename-source' : mark?.query === undefined ? mark?.header : undefined
  const headers = source === undefined ? [] : [[source, '/actions/source'] as const]
  const ofSource = name === 'RenameObject' ? ['s3:GetObject', 's3:DeleteObject'] : ['s3:GetObject']
  const own = versionId !== undefined && versionAction !== undefined ? versionAction : action
  const text = query.filter((part) => part !== undefined).join('&')
  return {
    name: `${name}${versionId === undefined ? '' : ' of a version'}`,
    method,
    target: text === '' ? path : `${path}?${text}`,
    request: { headers, ...(BODIES[name] === undefined ? {} : { body: BODIES[name] }) },
    coveredBy,
    actions: headers.length > 0 ? [own, ...ofSource] : [own, ...besides],
  }
}

const OPERATIONS_WITH_ACTION = OPERATIONS.filter(({ handle, method }) => handle !== undefined && method !== 'OPTIONS')
/** One that asks for the permission of each key in its body is not refused as a whole. */
const CASES = OPERATIONS_WITH_ACTION.filter(({ judgesKeys }) => !judgesKeys).flatMap((operation) =>
  operation.accepts.includes('versionId') ? [caseOf(operation), caseOf(operation, 'null')] : [caseOf(operation)],
)

/** What the audit record of a request must say that it was, and what came of it, where that is known. */
const expected: { readonly id: string; readonly api: string | undefined; readonly result?: string }[] = []

test('operations that ask for the permission of each key', async (t) => {
  t.same(
    OPERATIONS.filter(({ judgesKeys }) => judgesKeys).map(({ name }) => name),
    ['DeleteObjects'],
  )
  for (const [deletion, ...needed] of [
    [{ Key: 'key' }, 's3:DeleteObject'],
    [{ Key: 'key', VersionId: 'null' }, 's3:DeleteObjectVersion'],
    [{ Key: 'none', ETag: 'etag' }, 's3:DeleteObject', 's3:GetObject'],
  ] as const) {
    const codes = async (actions: readonly string[]) => {
      const answers = await removeAll(server, 'actions', [deletion], (await identityWith(actions)).signing)
      return answers.map((answer) => ('code' in answer ? answer.code : 'deleted'))
    }
    t.same(await codes(needed), ['deleted'], `with ${needed.join()} alone`)
    for (const left of needed) {
      t.same(await codes(ALL.filter((action) => action !== left)), ['AccessDenied'], `with all but ${left}`)
      t.match((await server.journal()).at(-1), { result: 'denied', resource: `bucket:actions/${deletion.Key}` })
    }
  }
})

for (const { name, method, target, request, actions, coveredBy } of CASES) {
  test(name, async (t) => {
    const api = name.split(' ')[0]
    const needed = await raw(method, target, { ...request, ...(await identityWith(actions)).signing })
    t.not(needed.status, 403, `with ${actions.join()} alone: ${needed.text}`)
    expected.push({ id: String(needed.headers['x-amz-request-id']), api })
    for (const left of actions) {
      const { signing } = await identityWith(ALL.filter((action) => action !== left && action !== coveredBy))
      const answer = await raw(method, target, { ...request, ...signing })
      t.equal(answer.status, 403, `with all but ${left}`)
      expected.push({ id: String(answer.headers['x-amz-request-id']), api, result: 'denied' })
    }
  })
}

test('the last record of each of these requests says the operation, and whether it was denied', async (t) => {
  const recorded = new Map((await server.journal()).map((entry) => [entry.requestId, entry]))
  for (const { id, api, ...result } of expected) {
    const entry = recorded.get(id)
    t.equal(entry?.details.get('api'), api)
    t.match(entry, result)
  }
  t.ok(expected.length > 2 * CASES.length)
})

test('managing a bucket covers reading what is managed, unless reading is denied', async (t) => {
  const covered = CASES.filter(({ coveredBy }) => coveredBy !== undefined)
  t.same(
    covered.map(({ name }) => name),
    [
      'DeleteBucketTagging',
      'GetBucketAccelerateConfiguration',
      'GetBucketAcl',
      'GetBucketCors',
      'GetBucketEncryption',
      'GetBucketLifecycleConfiguration',
      'GetBucketLogging',
      'GetBucketNotificationConfiguration',
      'GetBucketOwnershipControls',
      'GetBucketPolicy',
      'GetBucketPolicyStatus',
      'GetBucketReplication',
      'GetBucketRequestPayment',
      'GetBucketTagging',
      'GetBucketVersioning',
      'GetBucketWebsite',
      'GetObjectLockConfiguration',
      'GetPublicAccessBlock',
      'PutBucketTagging',
    ],
  )
  for (const { method, target, actions } of covered) {
    const { signing } = await identityWith(['s3:ManageBucket'])
    t.not((await raw(method, target, signing)).status, 403, target)
    const denied = await newIdentity(server, [allow(['s3:ManageBucket'], 'bucket:*'), deny(actions, 'bucket:*')])
    t.equal((await raw(method, target, denied.signing)).status, 403, `${target}, with a denial`)
    const reader = await newIdentity(server, [allow(actions, 'bucket:*'), deny(['s3:ManageBucket'], 'bucket:*')])
    t.not((await raw(method, target, reader.signing)).status, 403, `${target}, where managing is denied`)
    for (const { s3 } of [denied, reader]) s3.destroy()
  }
})

test('the actions of the table are those of its page', async (t) => {
  const page = tableWith(
    'spec/manual/s3/operations.md',
    'operation | request | action | also takes | changes | implemented',
  )
  const implemented = page.filter((row) => row[5] !== 'no' && row[2] !== '`s3:Preflight`')
  t.same(
    OPERATIONS_WITH_ACTION.map(({ name }) => name),
    implemented.map(([name]) => name),
  )
  const named = new Set(implemented.flatMap((row) => (row[2] ?? '').replaceAll('`', '').split(/, | or /)))
  // Those that a header needs are of no operation of their own.
  named.add('s3:BypassGovernanceRetention')
  t.same(ALL.toSorted(), [...named].toSorted())
})
