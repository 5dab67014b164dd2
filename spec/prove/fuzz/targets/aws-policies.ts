/** Policies in the language of AWS: what a translation allows, against a reading of the document itself. */
import { AwsPolicyError } from '../../../../engine/aws-policies/aws-elements.ts'
import { translateAccountPolicy, translateBucketPolicy } from '../../../../engine/aws-policies/aws-policy.ts'
import { compilePolicies, decidingStatement, isAllowed, listsKeysFrom } from '../../../../engine/access/policy.ts'
import type { PolicyStatement } from '../../../../engine/events/values.ts'
import { OPERATIONS } from '../../../../planes/s3/operation-list.ts'
import { S3_ACTIONS } from '../../../../planes/s3/authorize.ts'
import type { Random } from '../../../support/random.ts'
import { accepted, type FuzzTarget, mustBeSame, mustHold, refused, type Verdict } from '../target.ts'

/** What a document asks about one request, as S3 would. */
interface Asked {
  readonly action: string
  /** Without `arn:aws:s3:::`. */
  readonly resource: string
  readonly prefix?: string
}

const LEVELS = new Map(OPERATIONS.map(({ action, level }) => [action, level]))
const OF_BUCKETS = [...S3_ACTIONS].filter((action) => LEVELS.get(action) === 'bucket')
const OF_KEYS = [...S3_ACTIONS].filter((action) => LEVELS.get(action) === 'object')
const BUCKET = 'b'
const KEYS = ['b/key', 'b/pre/key', 'b/pre/', 'bb/key']
const PREFIXES = ['pre/', 'pre/more', 'pr', 'other']
/** Actions of S3 that belong to another one here: a denial of them must not be lost. */
const PARTS = { 's3:GetObjectVersion': 's3:GetObject', 's3:PutBucketVersioning': 's3:ManageBucket' }

/** Whether a pattern of AWS fits: `*` is any text, `?` one character. */
function fitsAws(pattern: string, text: string): boolean {
  if (pattern === '') return text === ''
  const [first, rest] = [pattern[0] as string, pattern.slice(1)]
  if (first === '*') return fitsAws(rest, text) || (text !== '' && fitsAws(pattern, text.slice(1)))
  return text !== '' && (first === '?' || first === text[0]) && fitsAws(rest, text.slice(1))
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [value]
}

/** The statements of a document that speak of a request, by their effect. A deny wins; without an allow nothing is. */
function decisionOfAws(document: unknown, { action, resource, prefix }: Asked): 'Allow' | 'Deny' | undefined {
  let decision: 'Allow' | undefined
  for (const one of listOf((document as { Statement: unknown }).Statement)) {
    const statement = one as Record<string, unknown>
    const isConcerned =
      listOf(statement['Action']).some((text) => fitsAws(String(text).toLowerCase(), action.toLowerCase())) &&
      listOf(statement['Resource']).some((text) => fitsAws(String(text), `arn:aws:s3:::${resource}`))
    if (!isConcerned || !conditionHolds(statement['Condition'], prefix)) continue
    if (statement['Effect'] === 'Deny') return 'Deny'
    decision = 'Allow'
  }
  return decision
}

function conditionHolds(condition: unknown, prefix: string | undefined): boolean {
  const tests = Object.values((condition ?? {}) as Record<string, object>).flatMap((keys) => Object.values(keys))
  return tests.every((values) => prefix !== undefined && listOf(values).some((text) => fitsAws(String(text), prefix)))
}

function accountOf(name: string): string | undefined {
  return name === 'alice' ? 'acc-alice' : undefined
}

function judge(input: Buffer): Verdict {
  let document: unknown
  try {
    document = JSON.parse(input.toString())
  } catch {
    return refused('not JSON')
  }
  const isOfBucket = input.includes('Principal')
  let statements: readonly PolicyStatement[]
  try {
    statements = isOfBucket
      ? translateBucketPolicy(document, { bucket: BUCKET, actions: S3_ACTIONS, accountOf })
      : translateAccountPolicy(document, S3_ACTIONS)
  } catch (error) {
    if (!(error instanceof AwsPolicyError)) throw error
    return refused(error.message.replaceAll(/\[\d+\]|\d+|"(\\.|[^"\\])*"/g, '#').slice(0, 80))
  }
  if (isOfBucket) {
    for (const { resources } of statements)
      for (const text of resources) mustHold(text === `bucket:${BUCKET}` || text.startsWith(`bucket:${BUCKET}/`), text)
    // Who is meant is not asked here: as if every statement were of one account.
  }
  return accepted(`${Math.min(compare(document, statements), 9)} allowed`)
}

/** @returns how much is allowed */
function compare(document: unknown, statements: readonly PolicyStatement[]): number {
  const compiled = compilePolicies(statements)
  let allowed = 0
  const check = (asked: Asked) => {
    const own = isAllowed(compiled, asked.action, `bucket:${asked.resource}`)
    mustBeSame(own, decisionOfAws(document, asked) === 'Allow', `${asked.action} on ${asked.resource}`)
    if (own) allowed += 1
  }
  for (const action of OF_BUCKETS) check({ action, resource: BUCKET })
  for (const action of OF_KEYS) for (const resource of KEYS) check({ action, resource })
  for (const [part, whole] of Object.entries(PARTS)) {
    for (const resource of [BUCKET, ...KEYS]) {
      if (decisionOfAws(document, { action: part, resource }) !== 'Deny') continue
      mustHold(!isAllowed(compiled, whole, `bucket:${resource}`), `${part} on ${resource} is denied`)
    }
  }
  for (const prefix of PREFIXES) {
    const asked = { action: 's3:ListBucket', resource: BUCKET, prefix }
    const ofBucket = decidingStatement(compiled, asked.action, `bucket:${BUCKET}`)
    const own =
      ofBucket === undefined ? listsKeysFrom(compiled, asked.action, `bucket:${BUCKET}/${prefix}`) : !ofBucket.denies
    if (!own) continue
    mustBeSame(decisionOfAws(document, asked), 'Allow', `the listing of ${prefix}`)
    allowed += 1
  }
  return allowed
}

const ACTIONS = [
  's3:*',
  '*',
  's3:Get*',
  's3:getobject',
  's3:List*',
  's3:ListBucket',
  's3:PutObject',
  's3:Put*',
  's3:Delete*',
]
const FURTHER = [
  's3:GetObjectVersion',
  's3:GetObjectV*',
  's3:PutBucketVersioning',
  's3:ManageBucket',
  's3:*Object',
  'kms:*',
]
const ARNS = ['b', 'b/*', 'b/pre/*', 'b/key', 'b*', '*', 'c', 'b/p?e/*', 'b/*/key', 'b/pre/${aws:username}'].map(
  (rest) => `arn:aws:s3:::${rest}`,
)

function byChance(random: Random): string {
  const some = (choices: readonly string[], odd: readonly string[]): unknown => {
    const all = Array.from({ length: 1 + random.below(3) }, () => random.of(random.below(8) === 0 ? odd : choices))
    return random.below(3) === 0 ? all[0] : all
  }
  const isOfBucket = random.below(3) === 0
  const arns = isOfBucket ? ARNS.filter((arn) => /:b($|\/)/.test(arn)) : ARNS
  const statement = () => ({
    ...(random.below(3) === 0 && { Sid: 'sid' }),
    Effect: random.of(['Allow', 'Allow', 'Deny']),
    ...(isOfBucket && {
      Principal: random.of(['*', { AWS: 'alice' }, { AWS: ['alice', '*'] }, { AWS: 'arn:aws:iam::1:user/alice' }]),
    }),
    Action: some(ACTIONS, FURTHER),
    Resource: some(arns.slice(0, 6), [...arns, '*']),
    ...(random.below(6) === 0 && {
      Condition: { StringLike: { 's3:prefix': random.of(['pre/*', ['pr*', 'x*'], 'pre/']) } },
    }),
  })
  const statements = Array.from({ length: 1 + random.below(3) }, statement)
  return JSON.stringify({ Version: '2012-10-17', Statement: random.below(5) === 0 ? statements[0] : statements })
}

const LISTING =
  '{"Effect":"Allow","Action":"s3:ListBucket","Resource":"arn:aws:s3:::b","Condition":{"StringLike":{"s3:prefix":"pre/*"}}}'
const PUBLIC = '{"Effect":"Allow","Principal":"*","Action":"s3:GetObject","Resource":"arn:aws:s3:::b/pre/*"}'
const WORDS =
  'Version 2012-10-17 Statement Sid Effect Allow Deny Principal AWS Action Resource Condition StringLike s3:prefix NotAction'

export const AWS_POLICY_TARGET: FuzzTarget = {
  name: 'aws-policy',
  seeds: [LISTING, PUBLIC].map((one) => `{"Version":"2012-10-17","Statement":[${one}]}`),
  words: [
    ...WORDS.split(' ').map((word) => `"${word}"`),
    ...ACTIONS,
    ...FURTHER,
    ...ARNS,
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
  ],
  bytesMaximum: 8 * 1024,
  make: byChance,
  judge,
}
