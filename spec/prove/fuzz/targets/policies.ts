/** Who may do what: policy documents and decisions by them, and what browsers may do. */
import { compilePolicies, isAllowed } from '../../../../engine/access/policy.ts'
import type { CorsRule, PolicyStatement } from '../../../../engine/events/values.ts'
import { ManagementError } from '../../../../planes/management/errors.ts'
import { policyStatements } from '../../../../planes/management/access/policy-document.ts'
import { S3_ACTIONS } from '../../../../planes/s3/authorize.ts'
import { corsHeaders, preflightHeaders } from '../../../../planes/s3/cors/cors-match.ts'
import type { Random } from '../../../support/random.ts'
import { headerLines, requestWith } from '../request-text.ts'
import { s3Answer } from '../s3-refusal.ts'
import { AWS_POLICY_TARGET } from './aws-policies.ts'
import { accepted, type FuzzTarget, mustBeSame, mustHold, refused, type Verdict } from '../target.ts'

const BODY_BYTES = 64 * 1024

/** Whether a pattern fits a name, one character after the other. */
function naiveFit(pattern: string, name: string): boolean {
  for (let at = 0; ; at += 1) {
    if (pattern[at] === '*' && at === pattern.length - 1) return true
    if (at === pattern.length) return at === name.length
    if (pattern[at] !== name[at]) return false
  }
}

function naiveDecision(statements: readonly PolicyStatement[], action: string, resource: string): boolean {
  let allowed = false
  for (const { effect, actions, resources } of statements) {
    const concerned =
      actions.some((pattern) => naiveFit(pattern, action)) && resources.some((pattern) => naiveFit(pattern, resource))
    if (concerned && effect === 'deny') return false
    if (concerned) allowed = true
  }
  return allowed
}

/** The rules of the specification for a pattern: a wildcard only at the end, and something that it can fit. */
function patternIsRight(pattern: string, isResource: boolean): boolean {
  const text = pattern.endsWith('*') ? pattern.slice(0, -1) : pattern
  if (text.includes('*') || pattern === '') return false
  if (!isResource) return [...S3_ACTIONS].some((action) => naiveFit(pattern, action))
  const isPrefix = pattern.endsWith('*')
  return (isPrefix && 'bucket:'.startsWith(text)) || (text.startsWith('bucket:') && (isPrefix || text !== 'bucket:'))
}

const KNOWN_ACTIONS = [...S3_ACTIONS]
const RESOURCES = 'bucket:* bucket:a bucket:a/ bucket:a/b bucket:a/b/c bucket:ab/c bucket:a/ü bucket:a/*'.split(' ')

/** `{"statements": ...}`; the statements are held against every action and some resources. */
function judgePolicy(input: Buffer): Verdict {
  const value = parsedJson(input)
  let statements: PolicyStatement[]
  try {
    statements = policyStatements(value, S3_ACTIONS)
  } catch (error) {
    if (!(error instanceof ManagementError)) throw error
    mustBeSame(error.code, 'INVALID_REQUEST', 'the refusal')
    return refused(error.message.replaceAll(/\[\d+\]|\d+/g, '#').slice(0, 80))
  }
  mustBeSame(statements, JSON.parse(JSON.stringify(value)), 'nothing is left out of a document or put into it')
  for (const { effect, actions, resources } of statements) {
    mustHold(effect === 'allow' || effect === 'deny', effect)
    for (const action of actions) mustHold(patternIsRight(action, false), `the action ${action}`)
    for (const resource of resources) mustHold(patternIsRight(resource, true), `the resource ${resource}`)
  }
  const compiled = compilePolicies(statements)
  const named = statements.flatMap(({ resources }) => resources.map((text) => text.replace(/\*$/, 'x')))
  let allowed = 0
  for (const action of [KNOWN_ACTIONS[input.length % KNOWN_ACTIONS.length] as string, 's3:GetObject', 's3:PutObject']) {
    for (const resource of [...RESOURCES, ...named.slice(0, 8)]) {
      const decision = isAllowed(compiled, action, resource)
      mustBeSame(decision, naiveDecision(statements, action, resource), `${action} on ${resource}`)
      if (decision) allowed += 1
    }
  }
  return accepted(`${Math.min(allowed, 9)} allowed`)
}

function parsedJson(input: Buffer): unknown {
  try {
    return JSON.parse(input.toString()) as unknown
  } catch {
    return undefined
  }
}

function policyByChance(random: Random): string {
  const some = (choices: readonly string[]): string[] =>
    Array.from({ length: 1 + random.below(3) }, () => {
      const choice = random.of(choices)
      return random.below(3) === 0 ? `${choice.slice(0, random.below(choice.length + 1))}*` : choice
    })
  const statement = (): PolicyStatement => ({
    effect: random.of(['allow', 'allow', 'deny']),
    actions: some(KNOWN_ACTIONS),
    resources: some(RESOURCES),
  })
  return JSON.stringify(Array.from({ length: 1 + random.below(4) }, statement))
}

const RULES: readonly CorsRule[] = [
  rule(['https://a.example'], ['GET', 'PUT'], ['x-amz-*', 'content-type']),
  rule(['https://*.b.example', 'null'], ['DELETE'], []),
  rule(['*'], ['HEAD'], ['*']),
]

function rule(origins: string[], methods: string[], headers: string[]): CorsRule {
  return { id: undefined, origins, methods, headers, exposed: ['etag'], maxAgeSeconds: 5 }
}

/** One `*` stands for anything. */
function naivePattern(pattern: string, text: string): boolean {
  const [start = '', end] = pattern.split('*')
  if (end === undefined) return pattern === text
  for (let at = start.length; at <= text.length; at += 1) {
    if (text.slice(0, start.length) === start && text.slice(at) === end) return true
  }
  return false
}

function naiveRule(origin: string, method: string, names: readonly string[]): CorsRule | undefined {
  return RULES.find(
    ({ origins, methods, headers }) =>
      origins.some((pattern) => naivePattern(pattern, origin)) &&
      methods.includes(method) &&
      names.every((name) => headers.some((pattern) => naivePattern(pattern, name))),
  )
}

function judgeCors(input: Buffer): Verdict {
  const lines = headerLines(input.toString('latin1').split('\n'))
  const request = requestWith(lines, lines.find(([name]) => name === 'method')?.[1] ?? 'GET')
  const preflight = s3Answer(() => preflightHeaders(request, RULES))
  const plain = corsHeaders(request, RULES)
  const origin = request.header('origin') ?? ''
  const isOrigin = origin !== '' && !/[^\x21-\x2b\x2d-\x7e]/.test(origin)
  const answers = [...plain, ...('value' in preflight ? preflight.value : [])]
  for (const [name, value] of answers) mustHold(!/[^\x20-\x7e]/.test(value), `${name}: ${JSON.stringify(value)}`)
  mustBeSame(plain.length > 0, isOrigin && naiveRule(origin, request.method, []) !== undefined, 'a rule fits')
  for (const [name, value] of answers) {
    if (name === 'access-control-allow-origin') mustHold(value === '*' || value === origin, `${value} for ${origin}`)
    if (name === 'access-control-allow-credentials') mustBeSame(origin, 'https://a.example', 'who may send credentials')
  }
  if (!('value' in preflight)) return plain.length > 0 ? accepted('plain') : refused(preflight.code)
  const asked = (request.header('access-control-request-headers') ?? '')
    .split(',')
    .map((name) => name.trim().toLowerCase())
  const names = asked.filter((name) => name !== '')
  mustHold(
    names.every((name) => /^[!#$%&'*+\-.^_`|~0-9a-z]+$/.test(name)),
    'what is no name is repeated',
  )
  const method = request.header('access-control-request-method') ?? ''
  mustHold(isOrigin && naiveRule(origin, method, names) !== undefined, `${method} from ${origin} is allowed`)
  return accepted('preflight')
}

const JSON_WORDS = '"effect": "actions": "resources": "allow" "deny" *" "bucket: "s3: , [ ] { }'.split(' ')
const CORS_WORDS = 'origin: |method: |access-control-request-method: |access-control-request-headers: |\n|,'.split('|')
const ORIGINS = 'https://a.example https://x.b.example .b.example null GET PUT DELETE HEAD x-amz-date'.split(' ')

export const POLICY_TARGETS: readonly FuzzTarget[] = [
  AWS_POLICY_TARGET,
  {
    name: 'policy',
    seeds: [
      '[{"effect":"allow","actions":["s3:*"],"resources":["bucket:*"]}]',
      '[{"effect":"deny","actions":["s3:GetObject"],"resources":["bucket:a/b*"]},{"effect":"allow","actions":["*"],"resources":["*"]}]',
    ],
    words: [...JSON_WORDS, ...KNOWN_ACTIONS],
    bytesMaximum: BODY_BYTES,
    make: policyByChance,
    judge: judgePolicy,
  },
  {
    name: 'cors-request',
    seeds: [
      'origin: https://a.example\nmethod: GET',
      'origin: https://x.b.example\naccess-control-request-method: DELETE',
      'origin: null\naccess-control-request-method: HEAD\naccess-control-request-headers: X-A, range',
    ],
    words: [...CORS_WORDS, ...ORIGINS],
    judge: judgeCors,
  },
]
