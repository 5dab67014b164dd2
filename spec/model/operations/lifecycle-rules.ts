/** Requests on lifecycle rules, of the management plane (spec/manual/management/routes.md) and of S3 (spec/decisions/0063-lifecycle.md). */
import type { LifecycleRule } from '../../../engine/events/values.ts'
import { API } from '../../../planes/management/routing/define-route.ts'
import * as commands from '../../support/lifecycle.ts'
import { blocks, firstElement, type WireAnswer } from '../../support/wire-client.ts'
import { type Operation, reading, refusals } from '../expectation.ts'
import { escapeXml } from '../../../planes/s3/text/xml-writer.ts'
import type { ModelBucket, ModelState } from '../state.ts'
import { byRules, MANAGEMENT_CODES } from './by-rules.ts'
import { isKnown, type Named, namesOf, rename, unknownName } from './listed-names.ts'
import { onBucket, sameText } from './buckets.ts'

export type RuleSettings = Omit<LifecycleRule, 'rule'>

function fieldsOf({ prefix, enabled, expirationDays, noncurrentDays }: RuleSettings) {
  return {
    prefix,
    enabled,
    expiration: expirationDays ?? null,
    noncurrent_version_expiration: noncurrentDays ?? null,
  }
}

function shown({ text }: WireAnswer): Named {
  return namedIn(JSON.parse(text) as Readonly<Record<string, unknown>>)
}

function namedIn({ id, ...fields }: Readonly<Record<string, unknown>>): Named {
  return [String(id), fields]
}

function rulesPath(bucket: string): string {
  return `${API}/buckets/${bucket}/lifecycle`
}

function nameRules(world: ModelState, bucket: string, names: ReadonlyMap<string, string>): void {
  rename(world.buckets.get(bucket)?.rules ?? new Map<string, LifecycleRule>(), names, (rule, id) => ({
    ...rule,
    rule: id,
  }))
}

export function createRule(bucket: string, settings: RuleSettings): Operation {
  const fields = fieldsOf(settings)
  return {
    request: { method: 'POST', target: rulesPath(bucket), body: JSON.stringify(fields) },
    outcomes: byRules(
      ({ sequence }) => commands.createRule(bucket, unknownName(sequence + 1), settings),
      () => ({ status: 201, check: (answer) => sameText(shown(answer)[1], fields) }),
      (after, answer) => nameRules(after, bucket, new Map([[unknownName(after.sequence), shown(answer)[0]]])),
      MANAGEMENT_CODES,
    ),
  }
}

export function replaceRule(bucket: string, rule: string, settings: RuleSettings): Operation {
  const fields = fieldsOf(settings)
  return {
    request: {
      method: 'PUT',
      target: `${rulesPath(bucket)}/${encodeURIComponent(rule)}`,
      body: JSON.stringify(fields),
    },
    outcomes: byRules(
      () => commands.replaceRule(bucket, rule, settings),
      () => ({ status: 200, check: (answer) => sameText(shown(answer), [rule, fields]) }),
      undefined,
      MANAGEMENT_CODES,
    ),
  }
}

export function deleteRule(rule: string): Operation {
  return {
    request: { method: 'DELETE', target: `${API}/lifecycle-rules/${encodeURIComponent(rule)}` },
    outcomes: byRules(
      () => commands.deleteRule(rule),
      () => ({ status: 204 }),
      undefined,
      MANAGEMENT_CODES,
    ),
  }
}

/** The rules of a bucket, which tells the ids of those whose creation was never answered. */
export function listRules(bucket: string): Operation {
  return {
    request: { method: 'GET', target: rulesPath(bucket) },
    outcomes: (world) => {
      const there = world.buckets.get(bucket)
      if (there === undefined) return refusals(world, ['BUCKET_NOT_FOUND'])
      const expected = [...there.rules].map(([id, rule]): Named => [id, fieldsOf(rule)])
      const names = ({ text }: WireAnswer) => namesOf(expected, (JSON.parse(text) as RuleList).rules.map(namedIn))
      const check = (answer: WireAnswer) =>
        names(answer) === undefined ? `${answer.text} instead of ${JSON.stringify(expected)}` : undefined
      const next = (answer: WireAnswer | undefined) => {
        const found = answer && names(answer)
        if (found === undefined || [...found].every(([id, name]) => id === name)) return world
        const named = world.copy()
        nameRules(named, bucket, found)
        return named
      }
      return [{ pattern: { status: 200, check }, next }]
    },
  }
}

interface RuleList {
  readonly rules: readonly Readonly<Record<string, unknown>>[]
}

/** A rule as a client of S3 sends it. */
export interface SentRule extends RuleSettings {
  /** Of its bucket alone; without it the server makes one. */
  readonly id: string | undefined
}

/** On S3 it says for which sizes transitions are. */
const TRANSITIONS = { 'x-amz-transition-default-minimum-object-size': 'all_storage_classes_128K' }

/** Replaces all rules of a bucket, over S3. @param sent at least one */
export function putRules(bucket: string, sent: readonly SentRule[]): Operation {
  return {
    request: { method: 'PUT', target: `/${bucket}?lifecycle`, body: documentOf(sent) },
    outcomes: byRules(
      (world) =>
        commands.setRules(
          bucket,
          sent.map(({ id, ...settings }, index) => ({ ...settings, rule: storedId(world, bucket, id, index) })),
        ),
      () => ({ status: 200, headers: TRANSITIONS }),
    ),
  }
}

/** Removes all rules of a bucket, over S3. */
export function removeRules(bucket: string): Operation {
  return {
    request: { method: 'DELETE', target: `/${bucket}?lifecycle` },
    outcomes: byRules(
      () => commands.setRules(bucket, []),
      () => ({ status: 204 }),
    ),
  }
}

/** The rules of a bucket, over S3. */
export function getRules(bucket: string): Operation {
  return {
    request: { method: 'GET', target: `/${bucket}?lifecycle` },
    outcomes: onBucket(bucket, (world, { rules }) => {
      if (rules.size === 0) return refusals(world, ['NoSuchLifecycleConfiguration'])
      const check = ({ text }: WireAnswer) => {
        const listed = blocks(text, 'Rule').map(elementsOf)
        const expected = [...rules.values()].map((rule, index) => {
          const id = isKnown(rule.rule) ? clientId(bucket, rule.rule) : listed[index]?.[0]
          return elementsOf(ruleElement({ ...rule, id }))
        })
        return sameText(listed, expected)
      }
      return reading(world, { status: 200, headers: TRANSITIONS, check })
    }),
  }
}

/** Rules as a client of S3 would write them back. */
export function sentRules(bucket: string, { rules }: ModelBucket): SentRule[] {
  return [...rules.values()]
    .filter(({ rule }) => isKnown(rule))
    .map(({ rule, ...settings }) => ({ ...settings, id: clientId(bucket, rule) }))
}

/** Ids of the management plane stay; a client's are of its bucket, whose name goes before them. */
function storedId(world: ModelState, bucket: string, id: string | undefined, index: number): string {
  if (id === undefined) return `${unknownName(world.sequence + 1)} ${index}`
  const isManaged = !id.includes('/') && world.buckets.get(bucket)?.rules.has(id) === true
  return isManaged ? id : `${bucket}/${id}`
}

function clientId(bucket: string, rule: string): string {
  return rule.startsWith(`${bucket}/`) ? rule.slice(bucket.length + 1) : rule
}

function documentOf(sent: readonly SentRule[]): string {
  const root = 'LifecycleConfiguration'
  return `<${root}>${sent.map((rule) => `<Rule>${ruleElement(rule)}</Rule>`).join('')}</${root}>`
}

function ruleElement({ id, prefix, enabled, expirationDays, noncurrentDays }: SentRule): string {
  const named = id === undefined ? '' : `<ID>${escapeXml(id)}</ID>`
  const noncurrent = 'NoncurrentVersionExpiration'
  const actions = [
    expirationDays === undefined ? '' : `<Expiration><Days>${expirationDays}</Days></Expiration>`,
    noncurrentDays === undefined
      ? ''
      : `<${noncurrent}><NoncurrentDays>${noncurrentDays}</NoncurrentDays></${noncurrent}>`,
  ]
  const status = enabled ? 'Enabled' : 'Disabled'
  return `${named}<Filter><Prefix>${escapeXml(prefix)}</Prefix></Filter><Status>${status}</Status>${actions.join('')}`
}

function elementsOf(rule: string): (string | undefined)[] {
  return ['ID', 'Prefix', 'Status', 'Days', 'NoncurrentDays'].map((name) => firstElement(rule, name))
}
