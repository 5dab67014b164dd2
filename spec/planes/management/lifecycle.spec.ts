/**
 * Lifecycle rules over the management plane: creation, complete replacement, deletion, bounds, and their records.
 * Proves: DO-NOT-15, RES-RUL-01, RES-RUL-02, RES-RUL-03, RES-RUL-06, RES-RUL-07, STA-RUL-01, STA-RUL-03, API-RUL-01,
 * API-RUL-02, API-RUL-03, API-RUL-04, ERR-MGT-02, ERR-OTH-03, LIM-VAL-01.
 */
import tap, { test } from 'tap'
import { RULES_MAXIMUM } from '../../../engine/lifecycle/rules.ts'
import { startManaged } from '../../support/management-server.ts'

const server = await startManaged()
tap.teardown(() => server.stop())
const { api } = server

interface Rule {
  readonly id: string
}

async function bucket(name: string): Promise<string> {
  await api.get('POST', '/buckets', { name })
  return `/buckets/${name}/lifecycle`
}

async function created(path: string, body: object): Promise<Rule> {
  return (await api.get('POST', path, body)) as unknown as Rule
}

/** The settings in the outcome of the last change. */
async function lastRecord(): Promise<Readonly<Record<string, string | number>>> {
  return Object.fromEntries((await server.journal()).at(-1)?.details ?? [])
}

test('a rule is created with defaults, listed, replaced and deleted', async (t) => {
  const path = await bucket('rules')
  t.same(await api.get('GET', path), { rules: [] })
  const rule = await created(path, { expiration: 30 })
  t.match(rule.id, /^rule-[a-z2-7]{20}$/)
  const first = { id: rule.id, prefix: '', enabled: true, expiration: 30, noncurrent_version_expiration: null }
  t.same(rule, first)
  t.match(await lastRecord(), {
    bucket: 'rules',
    rule_id: rule.id,
    lifecycle_rule: '{"prefix":"","enabled":true,"expiration":30}',
  })
  const other = await created(path, { prefix: 'é/\n', enabled: false, noncurrent_version_expiration: 36_500 })
  const second = {
    id: other.id,
    prefix: 'é/\n',
    enabled: false,
    expiration: null,
    noncurrent_version_expiration: 36_500,
  }
  t.same(await api.get('GET', path), { rules: [first, second] })

  const both = { prefix: 'logs/', enabled: true, expiration: 1, noncurrent_version_expiration: 2 }
  t.same(await api.get('PUT', `${path}/${other.id}`, both), { id: other.id, ...both })
  const { noncurrent_version_expiration: _, ...cleared } = both
  t.same(await api.get('PUT', `${path}/${other.id}`, cleared), {
    id: other.id,
    ...cleared,
    noncurrent_version_expiration: null,
  })
  t.match(await lastRecord(), {
    lifecycle_rule: '{"prefix":"logs/","enabled":true,"expiration":1}',
    lifecycle_rule_before: '{"prefix":"logs/","enabled":true,"expiration":1,"noncurrent_version_expiration":2}',
  })
  const disabled = { prefix: 'logs/', enabled: false, expiration: 1, noncurrent_version_expiration: null }
  t.same(await api.get('PUT', `${path}/${other.id}`, disabled), { id: other.id, ...disabled })
  t.same(await api.get('GET', path), { rules: [first, { id: other.id, ...disabled }] })

  await api.get('DELETE', `/lifecycle-rules/${rule.id}`)
  t.match(await lastRecord(), {
    bucket: 'rules',
    id: rule.id,
    lifecycle_rule: 'none',
    lifecycle_rule_before: '{"prefix":"","enabled":true,"expiration":30}',
  })
  t.same(await api.get('GET', path), { rules: [{ id: other.id, ...disabled }] })
})

test('what a rule may be', async (t) => {
  const path = await bucket('bounds')
  const rule = await created(path, { expiration: 1 })
  const wrong: readonly [object, RegExp][] = [
    [{}, /needs expiration, noncurrent_version_expiration, or both/],
    [{ prefix: 'a', enabled: true }, /needs expiration/],
    [{ expiration: null, noncurrent_version_expiration: null }, /needs expiration/],
    [{ expiration: 0 }, /expiration: must be a whole number from 1 to 36500/],
    [{ expiration: 36_501 }, /expiration/],
    [{ expiration: 1.5 }, /expiration/],
    [{ expiration: '1' }, /expiration/],
    [{ noncurrent_version_expiration: 0 }, /noncurrent_version_expiration/],
    [{ noncurrent_version_expiration: 36_501 }, /noncurrent_version_expiration/],
    [{ expiration: 1, prefix: 'x'.repeat(1025) }, /prefix: has more than 1024 bytes/],
    [{ expiration: 1, prefix: 'é'.repeat(513) }, /prefix: has more than 1024 bytes/],
    [{ expiration: 1, prefix: null }, /prefix/],
    [{ expiration: 1, enabled: 'yes' }, /enabled/],
    [{ expiration: 1, id: 'rule-a' }, /id: unknown field/],
    [{ expiration: 1, days: 1 }, /days: unknown field/],
  ]
  for (const [body, message] of wrong) {
    for (const [method, target] of [
      ['POST', path],
      ['PUT', `${path}/${rule.id}`],
    ] as const) {
      const sent = method === 'PUT' ? { prefix: '', enabled: true, ...body } : body
      const answer = await api.call(method, target, sent)
      t.equal(answer.status, 400, `${method} ${JSON.stringify(body).slice(0, 60)}`)
      t.match(answer.json, { error: { code: 'INVALID_REQUEST', message } })
    }
  }
  for (const body of [
    { enabled: true, expiration: 1 },
    { prefix: '', expiration: 1 },
  ]) {
    t.equal((await api.call('PUT', `${path}/${rule.id}`, body)).status, 400, 'every field is sent')
  }
  t.same(await api.get('GET', path), {
    rules: [{ id: rule.id, prefix: '', enabled: true, expiration: 1, noncurrent_version_expiration: null }],
  })
  t.equal((await api.call('POST', path, { expiration: 1, prefix: 'é'.repeat(512) })).status, 201)
})

test('rules are of their bucket, which takes them with it', async (t) => {
  const [path, other] = [await bucket('owner'), await bucket('stranger')]
  const rule = await created(path, { expiration: 1 })
  const full = { prefix: '', enabled: true, expiration: 2 }
  const NOT_FOUND = { error: { code: 'LIFECYCLE_RULE_NOT_FOUND' } }
  for (const target of [`${other}/${rule.id}`, `${path}/rule-unknown`, `${path}/${'x'.repeat(3000)}`]) {
    const answer = await api.call('PUT', target, full)
    t.equal(answer.status, 404)
    t.match(answer.json, NOT_FOUND)
  }
  t.match((await api.call('PUT', `/buckets/nowhere/lifecycle/${rule.id}`, full)).json, {
    error: { code: 'BUCKET_NOT_FOUND' },
  })
  t.match((await api.call('DELETE', '/lifecycle-rules/rule-unknown')).json, NOT_FOUND)
  await api.get('DELETE', '/buckets/owner')
  t.match((await api.call('DELETE', `/lifecycle-rules/${rule.id}`)).json, NOT_FOUND)
  t.same(await api.get('GET', await bucket('owner')), { rules: [] }, 'a new bucket of the name has none')
})

test('a bucket has a bounded number of rules', async (t) => {
  const path = await bucket('many')
  await Promise.all(Array.from({ length: RULES_MAXIMUM }, async (_, index) => created(path, { expiration: 1 + index })))
  const answer = await api.call('POST', path, { expiration: 1 })
  t.equal(answer.status, 409)
  t.match(answer.json, { error: { code: 'TOO_MANY_LIFECYCLE_RULES' } })
  t.equal(((await api.get('GET', path)) as { rules: unknown[] }).rules.length, RULES_MAXIMUM)
  t.same(server.undocumented, [])
})
