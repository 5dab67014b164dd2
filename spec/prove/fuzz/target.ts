/** What is fuzzed: a reader of bytes or text that come from outside, with something that knows the right answer. */
import type { Random } from '../../support/random.ts'

/** What a reader made of one input that it was right about. */
export interface Verdict {
  readonly accepted: boolean
  /** Class of the answer, such as the code of a refusal. An input with one that is new is kept to make others from. */
  readonly outcome: string
}

/** The reader gave a wrong answer: what is invalid was accepted, or something valid was read as something else. */
export class WrongAnswerError extends Error {
  override readonly name = 'WrongAnswerError'
}

export interface FuzzTarget {
  /** Words with hyphens; files of the corpus begin with it. */
  readonly name: string
  /** Inputs that the reader accepts. */
  readonly seeds: readonly (string | Buffer)[]
  /** Pieces that mean something to the reader. */
  readonly words?: readonly (string | Buffer)[]
  /** Longest input that can reach the reader, at most `INPUT_BYTES_MAXIMUM`; by default as long as a head can be. */
  readonly bytesMaximum?: number
  /** Makes an input from nothing, for readers whose first check no mutation gets past. */
  readonly make?: (random: Random) => string | Buffer
  /** Puts right what chance never hits, such as a checksum or a signature, so that what is behind it is reached too. */
  readonly repair?: (input: Buffer, random: Random) => Buffer
  /**
   * Gives an input to the reader and judges the answer. Refusals that the reader is meant to throw are caught here;
   * whatever else comes out of it is a crash.
   * @throws WrongAnswerError
   */
  readonly judge: (input: Buffer) => Verdict | Promise<Verdict>
}

export const INPUT_BYTES_MAXIMUM = 128 * 1024
const HEAD_BYTES = 16 * 1024

export function longestOf({ bytesMaximum = HEAD_BYTES }: FuzzTarget): number {
  return bytesMaximum
}

export function accepted(outcome = 'accepted'): Verdict {
  return { accepted: true, outcome }
}

export function refused(outcome = 'refused'): Verdict {
  return { accepted: false, outcome }
}

/** @throws WrongAnswerError unless it holds */
export function mustHold(holds: boolean, what: string): void {
  if (!holds) throw new WrongAnswerError(what)
}

/** Whether two values are the same in every member; both sides of most oracles are compared so. */
export function mustBeSame(actual: unknown, expected: unknown, what: string): void {
  const [left, right] = [textOf(actual), textOf(expected)]
  if (left !== right) throw new WrongAnswerError(`${what}: ${left.slice(0, 400)} and not ${right.slice(0, 400)}`)
}

/** Members in their order. */
function textOf(value: unknown): string {
  return JSON.stringify(value, told)
}

/** What JSON has no form for, told apart. */
function told(_name: string, member: unknown): unknown {
  if (member === undefined) return '\0undefined'
  if (typeof member === 'bigint') return `\0${member}`
  if (typeof member === 'number' && !Number.isFinite(member)) return `\0${member}`
  if (member instanceof Map) return ['\0map', ...member]
  if (member instanceof Uint8Array) return `\0${Buffer.from(member).toString('hex')}`
  return member
}
