/** Requests on lifecycle rules (spec/manual/management/routes.md). */
import type { LifecycleRule } from '../../../engine/events/values.ts'
import { API } from '../../../planes/management/routing/define-route.ts'
import * as commands from '../../support/lifecycle.ts'
import type { WireAnswer } from '../../support/wire-client.ts'
import { type Operation, refusals } from '../expectation.ts'
import type { ModelState } from '../state.ts'
import { byRules, MANAGEMENT_CODES } from './by-rules.ts'
import { type Named, namesOf, rename, unknownName } from './listed-names.ts'
import { sameText } from './buckets.ts'

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
    request: { method: 'PUT', target: `${rulesPath(bucket)}/${rule}`, body: JSON.stringify(fields) },
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
    request: { method: 'DELETE', target: `${API}/lifecycle-rules/${rule}` },
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
