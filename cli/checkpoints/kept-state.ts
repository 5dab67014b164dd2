/** The state of a verification, in a file next to the checkpoint that it came to. */
import {
  historyText,
  readHistory,
  treesOfHistory,
  type VerifiedHistory,
} from '../../engine/verify/checkpoints/verified-history.ts'
import type { VerificationReport } from '../../engine/verify/journal-verifier.ts'
import { ExitError } from '../exit-codes.ts'
import { readSmallFile } from '../terminal/read-file.ts'
import { saveFile } from '../terminal/save-file.ts'
import type { KeptNote } from './kept-checkpoint.ts'

const STATE_BYTES_MAXIMUM = 64 * 1024
const SUFFIX = '.state'

/**
 * The state of a checkpoint, which hashes to its root.
 * @param notePath where the checkpoint is
 * @param shown that path as it was given
 * @throws ExitError `proofFailed` for a state of another checkpoint, `notFound`
 */
export async function readKeptState(notePath: string, shown: string, note: KeptNote): Promise<VerifiedHistory> {
  const bytes = await readSmallFile(`${notePath}${SUFFIX}`, STATE_BYTES_MAXIMUM)
  const refuse = (why: string): never => {
    throw new ExitError('proofFailed', `${shown}${SUFFIX} ${why}`)
  }
  const state = readHistory(Buffer.from(bytes).toString()) ?? refuse('has not the form of a state')
  if (state.origin !== note.origin || state.size !== note.size) refuse('is not the state of this checkpoint')
  if (treesOfHistory(state).log.root() !== note.root) {
    refuse('is not the state of this checkpoint: it does not hash to its root')
  }
  return state
}

/** Writes the state at a checkpoint that the journal extends, for the next verification. */
export function saveKeptState(
  notePath: string,
  { origin, size }: KeptNote,
  { checkpoints: { tops }, keptPlace }: VerificationReport,
): void {
  if (tops === undefined || keptPlace === undefined) throw new ExitError('failed', 'there is no state to keep')
  saveFile(`${notePath}${SUFFIX}`, Buffer.from(historyText({ origin, size, ...keptPlace, ...tops })))
}
