/** The report of a verifier: always every check, each with one of three results. */
import type { UnsignedBundle } from './bundle-types.ts'

/** `not proved`: it could not be performed. Never a pass. */
type CheckStatus = 'passed' | 'failed' | 'not proved'

/** The checks, in the order of the report; `records` in bundles of format version 2 alone. */
export const CHECK_NAMES = [
  'format',
  'format version',
  'signature',
  'key id',
  'deployment identity',
  'payload',
  'size',
  'checkpoint',
  'inclusion',
  'records',
  'links',
  'anchor',
] as const

export type CheckName = (typeof CHECK_NAMES)[number]

export interface CheckResult {
  readonly status: CheckStatus
  /** One sentence for a person. */
  readonly sentence: string
}

interface ProofCheck extends CheckResult {
  readonly name: CheckName
}

/**
 * `verified`: all required checks hold. `failed`: a check failed. `not proved`: none failed, but a required check could
 * not be performed, such as the identity without a public key.
 */
export type ProofVerdict = 'verified' | 'failed' | 'not proved'

export interface ProofReport {
  readonly verdict: ProofVerdict
  readonly checks: readonly ProofCheck[]
  /** The bundle's claims, for display; undefined when it could not be read. True only as far as the checks hold. */
  readonly claims: UnsignedBundle | undefined
}

/** A verdict in a sentence for a person. */
export const VERDICT_SENTENCES: Readonly<Record<ProofVerdict, string>> = {
  verified: 'Verified: the file is the object that the deployment signed for.',
  failed: 'FAILED: the file and the bundle do not prove what the bundle states.',
  'not proved': 'Not proved: no check failed, but a required one could not be made.',
}

/** What even a verified bundle does not prove. Part of every report, so that readers do not overrate it (T14). */
export const PROOF_LIMITS: readonly string[] = [
  'It is about one version as it was when the bundle was made: a later deletion does not show.',
  'It proves that the file has the bytes that were recorded when they were written, not that those were the right ones.',
  'Whoever holds the master key of the deployment can sign any bundle.',
]

/** Without history only the file and the signature can be checked. */
const MUST_HOLD: readonly CheckName[] = [
  'format',
  'format version',
  'signature',
  'key id',
  'deployment identity',
  'payload',
  'size',
]
/** Optional checks: `links` needs neighbours and `anchor` its own verifier, so both may stay unproved. */
const MUST_HOLD_WITH_HISTORY: readonly CheckName[] = [...MUST_HOLD, 'checkpoint', 'inclusion', 'records']

/** Puts the results into their order; a check without one was not performed, for the reason given. */
export function proofReport(
  results: ReadonlyMap<CheckName, CheckResult>,
  claims: UnsignedBundle | undefined,
  whyNot: string,
): ProofReport {
  const names = CHECK_NAMES.filter((name) => name !== 'records' || claims?.format_version === 2)
  const checks = names.map((name): ProofCheck => {
    const { status, sentence } = results.get(name) ?? notProved(whyNot)
    return { name, status, sentence }
  })
  const mustHold = claims?.history.status === 'present' ? MUST_HOLD_WITH_HISTORY : MUST_HOLD
  const lacking = checks.some(({ name, status }) => status !== 'passed' && mustHold.includes(name))
  const anyFailed = checks.some(({ status }) => status === 'failed')
  return { verdict: anyFailed ? 'failed' : lacking ? 'not proved' : 'verified', checks, claims }
}

export function passed(sentence: string): CheckResult {
  return { status: 'passed', sentence }
}

export function failed(sentence: string): CheckResult {
  return { status: 'failed', sentence }
}

export function notProved(sentence: string): CheckResult {
  return { status: 'not proved', sentence }
}

/** A bundle's statements about its object, by name and in the order of display. */
export function statedBy({ object, payload, deployment }: UnsignedBundle): Readonly<Record<string, string | number>> {
  return { ...object, sha256: payload.sha256, public_key: deployment.public_key, key_id: deployment.key_id }
}
