/**
 * What policies allow, decided by a second opinion, and what they may not name.
 * Proves: RES-POL-02, RES-POL-03, RES-POL-04.
 */
import * as fc from 'fast-check'
import { test } from 'tap'
import { actionFault, compilePolicies, isAllowed, resourceFault } from '../../engine/access/policy.ts'
import type { PolicyStatement } from '../../engine/events/values.ts'

/** Few names, so that most patterns fit something. */
const letters = fc.string({ unit: fc.constantFrom('a', 'b', '/', '*', 'é'), maxLength: 4 })

const patterns = fc.array(
  fc.tuple(letters, fc.constantFrom('', '*')).map((parts) => parts.join('')),
  { maxLength: 3 },
)

const statement: fc.Arbitrary<PolicyStatement> = fc.record({
  effect: fc.constantFrom('allow', 'deny'),
  actions: patterns,
  resources: patterns,
})

function fits(all: readonly string[], name: string): boolean {
  return all.some((one) => (one.at(-1) === '*' ? name.startsWith(one.slice(0, -1)) : name === one))
}

function concerns({ actions, resources }: PolicyStatement, action: string, resource: string): boolean {
  return fits(actions, action) && fits(resources, resource)
}

test('an explicit deny wins, and what is not allowed is denied', async (t) => {
  const seen = { allowed: 0, denied: 0 }
  fc.assert(
    fc.property(fc.array(statement, { maxLength: 5 }), letters, letters, (statements, action, resource) => {
      const concerned = statements.filter((one) => concerns(one, action, resource))
      const expected = concerned.length > 0 && concerned.every(({ effect }) => effect === 'allow')
      seen[expected ? 'allowed' : 'denied'] += 1
      if (isAllowed(compilePolicies(statements), action, resource) !== expected) throw new Error(`not ${expected}`)
    }),
    { numRuns: 20_000 },
  )
  t.ok(seen.allowed > 500 && seen.denied > 500, JSON.stringify(seen))
  t.equal(isAllowed(compilePolicies([]), 's3:GetObject', 'bucket:a'), false)
})

test('no more is allowed by less: a statement that is taken away or a deny that is added', async () => {
  fc.assert(
    fc.property(
      fc.array(statement, { maxLength: 4 }),
      statement,
      letters,
      letters,
      (statements, more, action, resource) => {
        const before = isAllowed(compilePolicies(statements), action, resource)
        const denied = isAllowed(compilePolicies([...statements, { ...more, effect: 'deny' }]), action, resource)
        const allowed = isAllowed(compilePolicies([{ ...more, effect: 'allow' }, ...statements]), action, resource)
        const explicit = statements.some((one) => one.effect === 'deny' && concerns(one, action, resource))
        if (denied && !before) throw new Error('a deny allowed something')
        if (before && !allowed) throw new Error('an allow denied something')
        if (explicit && (before || allowed)) throw new Error('a deny was overruled')
      },
    ),
    { numRuns: 10_000 },
  )
})

test('actions that cannot be meant', async (t) => {
  const actions = new Set(['s3:GetObject', 's3:GetObjectRetention', 's3:PutObject'])
  for (const good of ['s3:GetObject', 's3:Get*', 's3:GetObject*', 's3:*', '*'])
    t.equal(actionFault(good, actions), undefined)
  const bad = [
    '',
    's3:',
    's3:Get',
    's3:getObject',
    's3:Delete*',
    's3:**',
    '**',
    '*s3',
    's3:G*t',
    ' s3:*',
    's3:PutObject ',
  ]
  for (const one of bad) t.type(actionFault(one, actions), 'string', one)
})

test('resources that cannot be meant', async (t) => {
  const good = ['*', 'b*', 'bucket*', 'bucket:*', 'bucket:a', 'bucket:a*', 'bucket:a/*', 'bucket:a/b c/é', 'bucket:a/']
  for (const one of good) t.equal(resourceFault(one), undefined, one)
  const bad = [
    '',
    'bucket',
    'bucket:',
    'Bucket:a',
    'a',
    'a*',
    'buckets:*',
    'arn:aws:s3:::a',
    'bucket:*/a',
    'bucket:a**',
  ]
  for (const one of [...bad, '**']) t.type(resourceFault(one), 'string', one)
})
