import { parseArgs } from 'node:util'
import type { Proof, ProofUnit } from './proof.ts'

/** The command line is wrong. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

export interface ProofRun {
  readonly proof: Proof
  readonly amount: number
  readonly seed: number
}

const UNITS: readonly ProofUnit[] = ['seeds', 'flips', 'worlds', 'cycles', 'seconds']
const AMOUNT_MAXIMUM = 1e9
const SEED_MAXIMUM = 2 ** 32 - 1

const OPTIONS = {
  seeds: { type: 'string' },
  flips: { type: 'string' },
  worlds: { type: 'string' },
  cycles: { type: 'string' },
  seconds: { type: 'string' },
  seed: { type: 'string' },
} as const

/**
 * Reads which proof is to run, and how much of it.
 * @param now where chance begins when neither the words nor the proof say so
 * @throws UsageError
 */
export function proofRunOf(words: readonly string[], proofs: readonly Proof[], now: number): ProofRun {
  const { values, positionals } = parsed(words)
  const [name, ...further] = positionals
  const proof = proofs.find((one) => one.name === name)
  if (proof === undefined || further.length > 0) {
    throw new UsageError(
      name === undefined ? 'say which proof is to run' : `no proof is called ${positionals.join(' ')}`,
    )
  }
  const other = UNITS.find((unit) => unit !== proof.unit && values[unit] !== undefined)
  if (other !== undefined) throw new UsageError(`${proof.name} is counted in --${proof.unit}, not in --${other}`)
  const amount = values[proof.unit]
  return {
    proof,
    amount: amount === undefined ? proof.amount : wholeNumber(proof.unit, amount, 1, AMOUNT_MAXIMUM),
    seed:
      values.seed === undefined
        ? (proof.seed ?? now % SEED_MAXIMUM)
        : wholeNumber('seed', values.seed, 0, SEED_MAXIMUM),
  }
}

function parsed(words: readonly string[]) {
  try {
    return parseArgs({ args: [...words], options: OPTIONS, allowPositionals: true })
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}

function wholeNumber(name: string, text: string, least: number, most: number): number {
  const value = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN
  if (value >= least && value <= most) return value
  throw new UsageError(`--${name} is a whole number from ${least} to ${most}, not ${text}`)
}

/** What can be asked for. */
export function usage(proofs: readonly Proof[]): string {
  const width = Math.max(0, ...proofs.map(({ name }) => name.length))
  const rows = proofs.map(({ name, tries, unit, amount }) => `  ${name.padEnd(width)}  ${tries} (--${unit} ${amount})`)
  return [
    'npm run prove -- PROOF [--seeds N | --flips N | --worlds N | --cycles N | --seconds N] [--seed N]',
    '',
    ...rows,
    '',
    'The last line says what was tried and what was lost; the exit code is 0 only where nothing was.',
    'A run says its seed; the same seed does the same again.',
    '',
  ].join('\n')
}
