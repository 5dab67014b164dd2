/**
 * Policies in the language of AWS (IAM user guide, "IAM JSON policy elements reference"), translated to statements of this
 * store. A document is translated as a whole or refused: what it denies must not be lost, and what it allows not grow
 * (decision 0024).
 */
import type { PolicyStatement } from '../events/values.ts'
import { translatedAction, wholesOf } from './aws-actions.ts'
import {
  type AccountOf,
  ARN,
  arnRest,
  AwsPolicyError,
  isObject,
  type Members,
  principalsOf,
  RESOURCE_LENGTH_MAXIMUM,
  shown,
  textsOf,
  VALUES_MAXIMUM,
  wildcardFault,
} from './aws-elements.ts'

/** A bound of the policies of this store, which holds for translated ones. */
const STATEMENTS_MAXIMUM = 100

const VERSIONS: readonly unknown[] = ['2012-10-17', '2008-10-17']

/** Listings of keys that the condition `s3:prefix` may narrow. */
const NARROWED: ReadonlySet<string> = new Set(['s3:ListBucket', 's3:ListBucketVersions'])
/** Listings that a resource of keys allows of these keys in this store. On S3 it allows none. */
const LISTINGS: readonly string[] = [...NARROWED, 's3:ListBucketMultipartUploads']

/** A statement of a bucket's policy. */
export interface BucketStatement extends PolicyStatement {
  /** Their ids; undefined for everyone. */
  readonly accounts: readonly string[] | undefined
  /** Where it is in the document. */
  readonly place: string
}

/** What the policy of a bucket is translated with. */
interface BucketPolicyContext {
  readonly bucket: string
  /** Every known action. */
  readonly actions: ReadonlySet<string>
  readonly accountOf: AccountOf
}

/** Whether a value is a policy as AWS writes it. */
export function isPolicyOfAws(value: unknown): value is Readonly<Record<string, unknown>> {
  return isObject(value) && ('Statement' in value || 'Version' in value)
}

/**
 * The statements of a policy for accounts.
 * @param document what JSON.parse made of it
 * @param actions every known action
 * @throws AwsPolicyError
 */
export function translateAccountPolicy(document: unknown, actions: ReadonlySet<string>): PolicyStatement[] {
  const all = statementsIn(document).flatMap(([statement, place]) => {
    if ('Principal' in statement) {
      throw new AwsPolicyError(`${place}.Principal`, 'a policy of accounts has none: attach it to the accounts instead')
    }
    return translated(statement, place, actions, resourceOfAny)
  })
  return bounded(all)
}

/**
 * The statements of the policy of a bucket.
 * @param document what JSON.parse made of it
 * @throws AwsPolicyError
 */
export function translateBucketPolicy(document: unknown, context: BucketPolicyContext): BucketStatement[] {
  const { actions, bucket, accountOf } = context
  const resourceOf: ReadResource = (text, where) => resourceWithin(bucket, text, where)
  const all = statementsIn(document).flatMap(([statement, place]) => {
    const accounts = principalsOf(statement['Principal'], `${place}.Principal`, accountOf)
    return translated(statement, place, actions, resourceOf).map((one) => ({ ...one, accounts, place }))
  })
  return bounded(all)
}

function bounded<S>(statements: S[]): S[] {
  if (statements.length <= STATEMENTS_MAXIMUM) return statements
  throw new AwsPolicyError('Statement', `makes ${statements.length} statements, at most ${STATEMENTS_MAXIMUM}`)
}

/** Each statement with its place. */
function statementsIn(document: unknown): (readonly [statement: Members, place: string])[] {
  if (!isObject(document)) throw new AwsPolicyError('the policy', 'is not a JSON object')
  for (const name of Object.keys(document)) {
    if (name === 'Version' || name === 'Id' || name === 'Statement') continue
    throw new AwsPolicyError(shown(name), 'is not an element of a policy; there are Version, Id and Statement')
  }
  if ('Version' in document && !VERSIONS.includes(document['Version'])) {
    throw new AwsPolicyError('Version', 'is "2012-10-17" or "2008-10-17"')
  }
  if ('Id' in document && typeof document['Id'] !== 'string') throw new AwsPolicyError('Id', 'is a text')
  const sent = document['Statement']
  const isList = Array.isArray(sent)
  const list: readonly unknown[] = isList ? sent : [sent]
  if (sent === undefined || list.length === 0) throw new AwsPolicyError('Statement', 'is missing')
  if (list.length > STATEMENTS_MAXIMUM) throw new AwsPolicyError('Statement', `has at most ${STATEMENTS_MAXIMUM}`)
  return list.map((statement, index) => {
    const place = isList ? `Statement[${index}]` : 'Statement'
    if (!isObject(statement)) throw new AwsPolicyError(place, 'is not a JSON object')
    const sid = statement['Sid']
    if (sid !== undefined && typeof sid !== 'string') throw new AwsPolicyError(`${place}.Sid`, 'is a text')
    return [statement, sid ? `${place} (Sid ${JSON.stringify(shown(sid))})` : place]
  })
}

const ELEMENTS: ReadonlySet<string> = new Set(['Sid', 'Effect', 'Principal', 'Action', 'Resource', 'Condition'])
/** Elements of AWS for all but what they list. */
const INVERTED: Readonly<Record<string, string>> = {
  NotPrincipal: 'Principal',
  NotAction: 'Action',
  NotResource: 'Resource',
}

type ReadResource = (text: string, place: string) => string

function translated(
  statement: Members,
  place: string,
  actions: ReadonlySet<string>,
  resourceOf: ReadResource,
): PolicyStatement[] {
  for (const name of Object.keys(statement)) {
    if (ELEMENTS.has(name)) continue
    const instead = Object.hasOwn(INVERTED, name) ? INVERTED[name] : undefined
    const detail = instead === undefined ? 'is not an element of a statement' : `is not supported: list ${instead}`
    throw new AwsPolicyError(`${place}.${shown(name)}`, detail)
  }
  const effect = effectOf(statement['Effect'], `${place}.Effect`)
  const patterns = patternsOf(statement['Action'], `${place}.Action`, effect, actions)
  const resources = textsOf(statement['Resource'], `${place}.Resource`).map(([text, at]) => resourceOf(text, at))
  const condition = statement['Condition']
  if (condition !== undefined && !(isObject(condition) && Object.keys(condition).length === 0)) {
    const prefixes = prefixesOf(condition, `${place}.Condition`)
    return [narrowed({ effect, actions: patterns, resources }, prefixes, `${place}.Condition`)]
  }
  if (effect === 'deny') return [{ effect, actions: patterns, resources }]
  return withoutListings(patterns, resources, actions, place)
}

/** The patterns of actions, of which none may stand for more or, in a denial, for less than the document says. */
function patternsOf(
  value: unknown,
  place: string,
  effect: PolicyStatement['effect'],
  known: ReadonlySet<string>,
): string[] {
  const patterns: string[] = []
  /** Actions that one of the patterns must cover, each with the text that needs it. */
  const wholes: [whole: string, text: string, place: string][] = []
  for (const [text, at] of textsOf(value, place)) {
    const found = translatedAction(text, known)
    if ('fault' in found) throw new AwsPolicyError(at, `${JSON.stringify(shown(text))} ${found.fault}`)
    if ('partOf' in found) wholes.push([found.partOf, text, at])
    else patterns.push(found.pattern)
    if (effect === 'deny') for (const whole of wholesOf(text)) wholes.push([whole, text, at])
  }
  for (const [whole, text, at] of wholes) {
    if (patterns.some((pattern) => fits(pattern, whole))) continue
    const detail = `is a part of ${whole} on this server: name that action as well`
    throw new AwsPolicyError(at, `${JSON.stringify(shown(text))} ${detail}`)
  }
  return [...new Set(patterns)]
}

function effectOf(value: unknown, place: string): PolicyStatement['effect'] {
  if (value === 'Allow') return 'allow'
  if (value === 'Deny') return 'deny'
  throw new AwsPolicyError(place, 'is "Allow" or "Deny"')
}

function resourceOfAny(text: string, place: string): string {
  return text === '*' ? 'bucket:*' : `bucket:${arnRest(text, place)}`
}

function resourceWithin(bucket: string, text: string, place: string): string {
  const rest = arnRest(text, place)
  if (rest === bucket || rest.startsWith(`${bucket}/`)) return `bucket:${rest}`
  const detail = `is not in this bucket: a resource is ${ARN}${bucket} or begins with ${ARN}${bucket}/`
  throw new AwsPolicyError(place, `${JSON.stringify(shown(text))} ${detail}`)
}

const CONDITIONS = 'the one condition is {"StringLike": {"s3:prefix": "PREFIX*"}}, of an Allow of listings'

/** What `s3:prefix` must be like: without the wildcard at its end. */
function prefixesOf(condition: unknown, place: string): string[] {
  if (!isObject(condition)) throw new AwsPolicyError(place, 'is not a JSON object')
  const operators = Object.entries(condition)
  const foreign = operators.find(([operator]) => operator !== 'StringLike')
  if (foreign !== undefined) {
    throw new AwsPolicyError(`${place}.${shown(foreign[0])}`, `the operator is not supported; ${CONDITIONS}`)
  }
  const tested = condition['StringLike']
  const keys: readonly (readonly [key: string, values: unknown])[] = isObject(tested) ? Object.entries(tested) : []
  const [[key, values] = ['', undefined] as const, ...others] = keys
  const wrong = key.toLowerCase() === 's3:prefix' ? others[0]?.[0] : key
  if (wrong !== undefined) {
    throw new AwsPolicyError(`${place}.StringLike.${shown(wrong)}`, `the key is not supported; ${CONDITIONS}`)
  }
  return textsOf(values, `${place}.StringLike.${shown(key)}`).map(([text, at]) => {
    const fault = text.endsWith('*') ? wildcardFault(text) : 'has no * at its end, which is not supported'
    if (fault !== undefined) throw new AwsPolicyError(at, `${JSON.stringify(shown(text))} ${fault}`)
    return text.slice(0, -1)
  })
}

/** A listing of keys with a prefix is allowed by a resource of these keys. */
function narrowed(statement: PolicyStatement, prefixes: readonly string[], place: string): PolicyStatement {
  const { effect, actions, resources } = statement
  const isOfListings = effect === 'allow' && actions.every((action) => NARROWED.has(action))
  if (!isOfListings || resources.some((resource) => resource.includes('/') || resource.endsWith('*'))) {
    const detail = `is not supported here: it is of Allow, of ${[...NARROWED].join(' and ')}, on whole buckets`
    throw new AwsPolicyError(`${place}.StringLike`, detail)
  }
  const keys = resources.flatMap((bucket) => prefixes.map((prefix) => `${bucket}/${prefix}*`))
  if (keys.length <= VALUES_MAXIMUM && keys.every((key) => key.length <= RESOURCE_LENGTH_MAXIMUM)) {
    return { effect, actions, resources: keys }
  }
  throw new AwsPolicyError(
    place,
    `makes ${keys.length} resources, at most ${VALUES_MAXIMUM} of ${RESOURCE_LENGTH_MAXIMUM}`,
  )
}

/**
 * Takes the listings out of what is allowed on keys alone: here a resource of keys allows to list these keys, on S3 it
 * does not.
 */
function withoutListings(
  patterns: readonly string[],
  resources: readonly string[],
  known: ReadonlySet<string>,
  place: string,
): PolicyStatement[] {
  const ofKeys = resources.filter((resource) => isOfKeys(resource) && !coversBucketOf(resources, resource))
  const isHarmless = !patterns.some((pattern) => LISTINGS.some((listing) => fits(pattern, listing)))
  if (ofKeys.length === 0 || isHarmless) return [{ effect: 'allow', actions: patterns, resources }]
  const others = resources.filter((resource) => !ofKeys.includes(resource))
  const actions = [...new Set(patterns.flatMap((pattern) => withoutListing(pattern, known)))]
  if (actions.length === 0 && others.length === 0) {
    const detail =
      'are listings, which are of buckets and not of keys: name the bucket, with Condition for a part of it'
    throw new AwsPolicyError(`${place}.Action`, detail)
  }
  if (actions.length > VALUES_MAXIMUM) throw new AwsPolicyError(`${place}.Action`, `makes ${actions.length} actions`)
  return [
    { effect: 'allow' as const, actions: patterns, resources: others },
    { effect: 'allow' as const, actions, resources: ofKeys },
  ].filter((statement) => statement.actions.length > 0 && statement.resources.length > 0)
}

function withoutListing(pattern: string, known: ReadonlySet<string>): readonly string[] {
  if (!LISTINGS.some((listing) => fits(pattern, listing))) return [pattern]
  return [...known].filter((action) => fits(pattern, action) && !LISTINGS.includes(action))
}

function isOfKeys(resource: string): boolean {
  return resource.includes('/')
}

/** Whether one of the resources is the bucket of these keys. */
function coversBucketOf(resources: readonly string[], keys: string): boolean {
  const bucket = keys.slice(0, keys.indexOf('/'))
  return resources.some((resource) => fits(resource, bucket))
}

function fits(pattern: string, name: string): boolean {
  return pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern
}
