/**
 * What records say of settings: what was asked for, and what it was before, on both planes.
 * Proves: EVT-GUA-07.
 */
import tap, { test } from 'tap'
import type { CreatedAccount } from '../../support/management-records.ts'
import { startManaged } from '../../support/management-server.ts'

const server = await startManaged()
tap.teardown(() => server.stop())
const { api } = server

/** Names of the metadata that are not settings. */
const OTHER: ReadonlySet<string> = new Set(
  'api bucket key id credential_id policy_id account_id version_id source_version_id'.split(' '),
)

/** The settings in the outcome of what `act` does last. */
async function settingsAfter(act: () => Promise<unknown>): Promise<Record<string, string | number>> {
  await act()
  const outcome = (await server.journal()).at(-1)
  if (outcome === undefined || outcome.result === 'attempted') throw new Error('no outcome')
  return Object.fromEntries(Array.from(outcome.details).filter(([name]) => !OTHER.has(name)))
}

function xml(target: string, body: string): () => Promise<unknown> {
  return () => server.raw('PUT', target, { body })
}

const UNTIL = '2095-01-02T03:04:05.000Z'
const LATER = '2096-01-02T03:04:05.000Z'

function retention(mode: string, until: string): string {
  return `<Retention><Mode>${mode}</Mode><RetainUntilDate>${until}</RetainUntilDate></Retention>`
}

function cors(origin: string): string {
  const rule = `<AllowedOrigin>${origin}</AllowedOrigin><AllowedMethod>GET</AllowedMethod>`
  return `<CORSConfiguration><CORSRule>${rule}</CORSRule></CORSConfiguration>`
}

/** What is done, and the settings in its record. */
type Case = readonly [what: string, act: () => Promise<unknown>, settings: Readonly<Record<string, string | number>>]

const CASES: readonly Case[] = [
  [
    'a legal hold is set',
    xml('/locked/k?legal-hold', '<LegalHold><Status>ON</Status></LegalHold>'),
    { legal_hold: 'ON', legal_hold_before: 'OFF' },
  ],
  [
    'a legal hold is lifted',
    xml('/locked/k?legal-hold', '<LegalHold><Status>OFF</Status></LegalHold>'),
    { legal_hold: 'OFF', legal_hold_before: 'ON' },
  ],
  [
    'a retention',
    xml('/locked/k?retention', retention('COMPLIANCE', UNTIL)),
    { retention: `COMPLIANCE until ${UNTIL}`, retention_before: 'none' },
  ],
  [
    'a retention that is refused',
    xml('/locked/k?retention', retention('GOVERNANCE', LATER)),
    {
      retention: `GOVERNANCE until ${LATER}`,
      retention_before: `COMPLIANCE until ${UNTIL}`,
      error: 'compliance-retention',
    },
  ],
  [
    'a default retention, over the management plane',
    () =>
      api.get('PUT', '/buckets/locked/default-retention', {
        default_retention: { mode: 'GOVERNANCE', period: { unit: 'days', value: 30 } },
      }),
    { default_retention: 'GOVERNANCE for 30 days', default_retention_before: 'none' },
  ],
  [
    'a default retention, over S3',
    xml(
      '/locked?object-lock',
      '<ObjectLockConfiguration><ObjectLockEnabled>Enabled</ObjectLockEnabled></ObjectLockConfiguration>',
    ),
    { default_retention: 'none', default_retention_before: 'GOVERNANCE for 30 days' },
  ],
  [
    'a quota',
    () =>
      api.get('PUT', '/buckets/plain/quota', {
        quota: { bytes: { mode: 'limit', bytes: 1000 }, objects: { mode: 'unlimited' } },
      }),
    {
      quota_bytes: 1000,
      quota_bytes_before: 'unlimited',
      quota_objects: 'unlimited',
      quota_objects_before: 'unlimited',
    },
  ],
  [
    'versioning',
    () => api.get('PUT', '/buckets/plain/versioning', { status: 'Enabled' }),
    { versioning: 'enabled', versioning_before: 'off' },
  ],
  [
    'CORS',
    xml('/plain?cors', cors('https://one.example')),
    {
      cors: '[{"origins":["https://one.example"],"methods":["GET"],"headers":[],"exposed":[]}]',
      cors_before: 'none',
    },
  ],
  [
    'no CORS',
    () => server.raw('DELETE', '/plain?cors'),
    {
      cors: 'none',
      cors_before: '[{"origins":["https://one.example"],"methods":["GET"],"headers":[],"exposed":[]}]',
    },
  ],
  [
    'a bucket that is not there',
    () => api.call('PUT', '/buckets/nothing/versioning', { status: 'Enabled' }),
    { status: 404, error: 'bucket-not-found' },
  ],
  [
    'a write with a lock',
    () =>
      server.raw('PUT', '/locked/born', {
        body: 'x',
        headers: [
          ['x-amz-object-lock-mode', 'GOVERNANCE'],
          ['x-amz-object-lock-retain-until-date', UNTIL],
          ['x-amz-object-lock-legal-hold', 'ON'],
        ],
      }),
    { retention: `GOVERNANCE until ${UNTIL}`, legal_hold: 'ON' },
  ],
  ['a write without', () => server.raw('PUT', '/locked/free', { body: 'x' }), {}],
]

test('settings of buckets and objects', async (t) => {
  await api.get('POST', '/buckets', { name: 'locked', object_lock: true })
  await api.get('POST', '/buckets', { name: 'plain' })
  await server.raw('PUT', '/locked/k', { body: 'one' })
  for (const [what, act, settings] of CASES) t.same(await settingsAfter(act), settings, what)
})

test('settings of accounts', async (t) => {
  const { account, credential } = await api.get<CreatedAccount>('POST', '/service-accounts', { name: 'a' })
  const path = `/service-accounts/${account.id}`
  const statements = [{ effect: 'allow', actions: ['s3:GetObject'], resources: ['bucket:locked/*'] }]
  const denied = [{ effect: 'deny', actions: ['s3:*'], resources: ['bucket:*'] }]
  const created = () => api.get<{ id: string }>('POST', '/policies', { name: 'p', statements })
  t.same(await settingsAfter(created), { statements: JSON.stringify(statements) })
  const [one, two] = [(await created()).id, (await created()).id]
  const bind = (method: string, policy: string) => () => api.get(method, `/policies/${policy}/bindings/${account.id}`)
  const cases: readonly Case[] = [
    [
      'an account is disabled',
      () => api.get('PUT', `${path}/status`, { enabled: false }),
      { account_status: 'disabled', account_status_before: 'enabled' },
    ],
    [
      'a credential is disabled',
      () => api.get('PUT', `${path}/credentials/${credential.credential_id}/status`, { enabled: false }),
      { credential_status: 'disabled', credential_status_before: 'enabled' },
    ],
    ['a policy', bind('PUT', one), { policies: JSON.stringify([one]), policies_before: 'none' }],
    [
      'another policy',
      bind('PUT', two),
      { policies: JSON.stringify([one, two]), policies_before: JSON.stringify([one]) },
    ],
    [
      'a policy is detached',
      bind('DELETE', one),
      { policies: JSON.stringify([two]), policies_before: JSON.stringify([one, two]) },
    ],
    [
      'a policy is replaced',
      () => api.get('PUT', `/policies/${two}`, { name: 'p', statements: denied }),
      { statements: JSON.stringify(denied), statements_before: JSON.stringify(statements) },
    ],
    [
      'an attached policy is not deleted',
      () => api.call('DELETE', `/policies/${two}`),
      { statements: 'none', statements_before: JSON.stringify(denied), error: 'policy-attached' },
    ],
    [
      'a policy is deleted',
      () => api.get('DELETE', `/policies/${one}`),
      { statements: 'none', statements_before: JSON.stringify(statements) },
    ],
    ['a new credential', () => api.get('POST', `${path}/credentials`, {}), { expires: 'never' }],
    [
      'the account is deleted',
      () => api.get('DELETE', path),
      {
        account_status: 'deleted',
        account_status_before: 'disabled',
        policies: 'none',
        policies_before: JSON.stringify([two]),
        credentials: 0,
        credentials_before: 2,
      },
    ],
  ]
  for (const [what, act, settings] of cases) t.same(await settingsAfter(act), settings, what)
})

test('a long value is cut, and told by its digest', async (t) => {
  const rules = Array.from({ length: 60 }, (_, index) => `https://a-rather-long-name-${index}.example`)
  const settings = await settingsAfter(
    xml(
      '/plain?cors',
      `<CORSConfiguration>${rules.map((each) => cors(each).slice(19, -20)).join('')}</CORSConfiguration>`,
    ),
  )
  t.match(settings['cors'], /^\[\{"origins".*\.\.\. sha256:[0-9a-f]{64}$/)
  t.ok(String(settings['cors']).length < 400)
})

test('what a repair removed', async (t) => {
  const preview = await settingsAfter(() => api.get('POST', '/storage/repair', {}))
  t.same(preview, { status: 200, repair: 'dry-run', orphans: 0, removed: 0, removed_names: '[]' })
})

test('what the document says is what is answered', async (t) => {
  t.same(server.undocumented, [])
  t.same(server.failures, [])
})
