/**
 * Service accounts on the S3 plane: what their policies allow and deny, and credentials that hold no more.
 * Proves: RES-ACC-03, RES-ACC-05, RES-POL-02, RES-POL-03, RES-AUD-05, API-ACC-02, API-ACC-03, API-ACC-06, AUT-S3P-02,
 * AUT-S3P-04.
 */
import type { Block } from '../block.ts'
import type { Signer } from '../asking.ts'
import type { Talk } from '../talk.ts'
import { makeBucket } from './helpers.ts'
import { OPERATION_ROWS } from './operation-rows.ts'

interface Statement {
  readonly effect: 'allow' | 'deny'
  readonly actions: readonly string[]
  readonly resources: readonly string[]
}

interface Identity {
  readonly signer: Signer
  readonly account: string
  readonly credential: string
  readonly policy: string
}

async function identity(talk: Talk, name: string, statements: readonly Statement[]): Promise<Identity> {
  const made = await talk.api('POST', '/service-accounts', { body: JSON.stringify({ name }) })
  const account = made.member('id')
  let policy = ''
  if (statements.length > 0) {
    const answer = await talk.api('POST', '/policies', { body: JSON.stringify({ name, statements }) })
    policy = answer.member('id')
    await talk.api('PUT', `/policies/${policy}/bindings/${account}`)
  }
  const signer = { name, accessKey: made.member('access_key'), secretKey: made.member('secret_key') }
  return { signer, account, credential: made.member('credential_id'), policy }
}

const allow = (actions: readonly string[], ...resources: readonly string[]): Statement => ({
  effect: 'allow',
  actions,
  resources,
})
const deny = (actions: readonly string[], ...resources: readonly string[]): Statement => ({
  effect: 'deny',
  actions,
  resources,
})

async function policies(talk: Talk): Promise<void> {
  const { bucket } = talk
  await makeBucket(talk)
  await makeBucket(talk, `${bucket}-two`)
  for (const key of ['key', 'photos/a', 'photos/secret']) await talk.s3('PUT', `/${bucket}/${key}`, { body: 'b' })
  const all = ['s3:*']
  const cases: readonly (readonly [string, readonly Statement[]])[] = [
    ['no policy', []],
    ['a reader', [allow(['s3:GetObject', 's3:ListBucket'], `bucket:${bucket}`, `bucket:${bucket}/*`)]],
    [
      'a reader of photos',
      [allow(['s3:Get*'], `bucket:${bucket}/photos/*`), deny(all, `bucket:${bucket}/photos/secret`)],
    ],
    ['a writer', [allow(['s3:PutObject', 's3:DeleteObject'], `bucket:${bucket}/*`)]],
    ['one denied everything', [allow(all, 'bucket:*'), deny(all, 'bucket:*')]],
    ['one of the bucket alone', [allow(all, `bucket:${bucket}`)]],
    ['one of all buckets', [allow(all, 'bucket:*'), deny(['s3:DeleteBucket'], `bucket:${bucket}`)]],
  ]
  const requests: readonly (readonly [string, string, readonly string[]])[] = [
    ['GET', '/?prefix=none', []],
    ['GET', `/${bucket}/key`, []],
    ['HEAD', `/${bucket}/key`, []],
    ['GET', `/${bucket}/key?versionId=null`, []],
    ['GET', `/${bucket}/photos/a`, []],
    ['GET', `/${bucket}/photos/secret`, []],
    ['GET', `/${bucket}/none`, []],
    ['GET', `/${bucket}-two/key`, []],
    ['GET', `/${bucket}-none/key`, []],
    ['GET', `/${bucket}?list-type=2`, []],
    ['HEAD', `/${bucket}`, []],
    ['GET', `/${bucket}?versions`, []],
    ['PUT', `/${bucket}/put`, []],
    ['PUT', `/${bucket}/copy`, [`x-amz-copy-source: ${bucket}/key`]],
    ['PUT', `/${bucket}/copy`, [`x-amz-copy-source: ${bucket}/photos/secret`]],
    ['PUT', `/${bucket}/copy`, [`x-amz-copy-source: ${bucket}/key?versionId=null`]],
    ['PUT', `/${bucket}/put`, ['x-amz-object-lock-legal-hold: ON']],
    ['DELETE', `/${bucket}/put`, []],
    ['DELETE', `/${bucket}/put?versionId=null`, []],
    ['DELETE', `/${bucket}/put?versionId=null`, ['x-amz-bypass-governance-retention: true']],
    ['DELETE', `/${bucket}/put`, ['x-amz-bypass-governance-retention: true']],
    ['POST', `/${bucket}/up?uploads`, []],
    ['PUT', `/${bucket}?versioning`, []],
    ['GET', `/${bucket}?acl`, []],
    ['DELETE', `/${bucket}`, []],
    ['DELETE', `/${bucket}-none`, []],
    ['PUT', `/${bucket}-none`, ['x-amz-acl: public-read']],
  ]
  for (const [name, statements] of cases) {
    const { signer } = await identity(talk, name, statements)
    for (const [method, target, headers] of requests) await talk.s3(method, target, { as: signer, headers })
    await talk.s3('GET', `/${bucket}/key`, { as: signer, presign: '60' })
  }
}

async function everyAction(talk: Talk): Promise<void> {
  const { bucket } = talk
  await makeBucket(talk)
  await talk.s3('PUT', `/${bucket}/key`, { body: 'b' })
  const { signer } = await identity(talk, 'no policy at all', [])
  const reader = await identity(talk, 'a reader of all', [allow(['s3:Get*', 's3:List*'], `bucket:${bucket}*`)])
  for (const row of OPERATION_ROWS) {
    const [line = '', ...headers] = row.replaceAll(/\bbucket\b/g, bucket).split('|')
    const [method = '', target = ''] = line.split(' ')
    await talk.s3(method, target, { headers, as: talk.random.once(2) ? signer : reader.signer })
  }
}

async function lives(talk: Talk): Promise<void> {
  const { bucket } = talk
  await makeBucket(talk)
  await talk.s3('PUT', `/${bucket}/key`, { body: 'b' })
  const one = await identity(talk, 'one', [allow(['s3:*'], 'bucket:*')])
  const look = async (as: Signer) => {
    await talk.s3('GET', `/${bucket}/key`, { as })
    await talk.s3('GET', `/${bucket}/key`, { as: { ...as, name: `${as.name} with another secret`, secretKey: 'x' } })
  }
  const path = `/service-accounts/${one.account}`
  const set = (what: string, enabled: boolean) =>
    talk.api('PUT', `${path}${what}/status`, { body: JSON.stringify({ enabled }) })
  await look(one.signer)
  await set('', false)
  await look(one.signer)
  await set('', true)
  await set(`/credentials/${one.credential}`, false)
  await look(one.signer)
  await set(`/credentials/${one.credential}`, true)
  await look(one.signer)
  await talk.api('DELETE', `/policies/${one.policy}/bindings/${one.account}`)
  await look(one.signer)
  await talk.api('PUT', `/policies/${one.policy}/bindings/${one.account}`)
  const another = await talk.api('POST', `${path}/temporary-credentials`, { body: '{"expires_in_seconds":3600}' })
  const temporary = {
    name: 'temporary',
    accessKey: another.member('access_key'),
    secretKey: another.member('secret_key'),
  }
  await look(temporary)
  await talk.s3('PUT', `/${bucket}/by-temporary`, { as: temporary, body: 'b' })
  await talk.s3('GET', `/${bucket}?versions`, { as: temporary })
  await talk.api('DELETE', path)
  await look(one.signer)
  await look(temporary)
}

export const IDENTITY_BLOCKS: readonly Block[] = [
  { name: 's3-policies', run: policies },
  { name: 's3-actions', run: everyAction },
  { name: 's3-credentials', run: lives },
]
