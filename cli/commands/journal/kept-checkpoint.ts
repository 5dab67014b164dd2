import { isSignedBy, readCheckpointNote } from '../../../engine/transparency/checkpoint-note.ts'
import type { VerificationReport } from '../../../engine/verify/journal-verifier.ts'
import { ExitError } from '../../exit-codes.ts'
import { parseLogFile, verifierKeyOption } from '../checkpoint/checkpoint-file.ts'

/** A checkpoint that the journal must extend. */
export interface KeptNote {
  readonly origin: string
  readonly size: number
  /** In hexadecimal. */
  readonly root: string
  /** Whether a key was given, which then has signed it. */
  readonly isSigned: boolean
}

/**
 * Reads a checkpoint that was kept elsewhere.
 * @param shown the path as it was given
 * @param key of the log, from elsewhere too
 * @throws ExitError `proofFailed` when it is none, or the key has not signed it
 */
export async function readKeptNote(path: string, shown: string, key: string | undefined): Promise<KeptNote> {
  const note = await parseLogFile(path, shown, readCheckpointNote)
  const { origin, size } = note
  if (key !== undefined) {
    const verifier = verifierKeyOption(key)
    if (origin !== verifier.name) {
      throw new ExitError(
        'proofFailed',
        `${shown} is a checkpoint of the log ${origin}, and the key is that of ${verifier.name}`,
      )
    }
    if (!isSignedBy(note, verifier)) throw new ExitError('proofFailed', `${shown} has no valid signature of the key`)
  }
  if (size === 0) throw new ExitError('proofFailed', `${shown} covers no record, and proves nothing`)
  return { origin, size, root: Buffer.from(note.root).toString('hex'), isSigned: key !== undefined }
}

/**
 * The origin of a log names its deployment, as the journal does.
 * @throws ExitError `proofFailed` for a checkpoint of another log
 */
export function requireSameLog({ origin }: KeptNote, { deploymentId, checkpoints }: VerificationReport): void {
  const isOwn = deploymentId === undefined || origin.split('/').includes(deploymentId)
  if (isOwn || checkpoints.last?.origin === origin) return
  const journal = `this is the journal of the deployment ${deploymentId}`
  throw new ExitError('proofFailed', `the checkpoint is of another log: its origin is ${origin}, and ${journal}`)
}
