/** What an input broke, found out and told in the same way by the proof, the specs and the replay. */
import { type FuzzTarget, type Verdict, WrongAnswerError } from './target.ts'

export type BreakageKind = 'crash' | 'hang' | 'accepted'

export interface Breakage {
  readonly kind: BreakageKind
  readonly message: string
}

export type Trial = { readonly verdict: Verdict } | { readonly breakage: Breakage }

/** Gives one input to a target. A copy, since readers may write into what they read. */
export async function trialOf(target: FuzzTarget, input: Buffer): Promise<Trial> {
  try {
    const verdict = target.judge(Buffer.from(input))
    return { verdict: verdict instanceof Promise ? await verdict : verdict }
  } catch (error) {
    return { breakage: breakageOf(error) }
  }
}

/** What was thrown, as what it means. */
export function breakageOf(error: unknown): Breakage {
  if (error instanceof WrongAnswerError) return { kind: 'accepted', message: error.message }
  const [message = '', place = ''] = String(error instanceof Error ? error.stack : error).split('\n    at ')
  return { kind: 'crash', message: `${message} at ${place.split('/').at(-1) ?? ''}` }
}

const TRIALS_MAXIMUM = 400
/** Messages that begin alike speak of the same fault. */
const SAME_CHARACTERS = 24

/** The input without the pieces that it breaks as well without. */
export async function smallest(target: FuzzTarget, input: Buffer, { kind, message }: Breakage): Promise<Buffer> {
  const isSame = (other: Breakage): boolean =>
    other.kind === kind && other.message.slice(0, SAME_CHARACTERS) === message.slice(0, SAME_CHARACTERS)
  let best = input
  let trials = 0
  for (let size = Math.ceil(best.length / 2); size >= 1; size = Math.floor(size / 2)) {
    for (let at = 0; at < best.length && trials < TRIALS_MAXIMUM; trials += 1) {
      const less = Buffer.concat([best.subarray(0, at), best.subarray(at + size)])
      const trial = await trialOf(target, less)
      if ('breakage' in trial && isSame(trial.breakage)) best = less
      else at += size
    }
  }
  return best
}
