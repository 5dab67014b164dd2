import {
  isSignedBy,
  readCheckpointNote,
  readVerifierKey,
  type VerifierKey,
  verifierKeyText,
} from '../../engine/checkpoints/checkpoint-note.ts'
import { keyForSize } from '../../engine/checkpoints/key-handover.ts'
import type { VerificationReport } from '../../engine/verify/journal-verifier.ts'
import { ExitError } from '../exit-codes.ts'
import { parseLogFile, verifierKeyOption } from './checkpoint-file.ts'

/** A checkpoint that the journal must extend. */
export interface KeptNote {
  readonly origin: string
  readonly size: number
  /** In hexadecimal. */
  readonly root: string
  /** Whether a key was given: then that key, or a key that it handed over to, must have signed it. */
  readonly isSigned: boolean
  /** The key that was given, in hexadecimal, where it signed the checkpoint itself. */
  readonly signer: string | undefined
  /** `handovers`: of the journal, already verified. @throws ExitError `proofFailed` unless it is signed by the key */
  readonly requireSigned: (handovers: VerificationReport['checkpoints']['handovers']) => void
}

/**
 * Reads a checkpoint that was kept elsewhere.
 * @param shown the path as it was given
 * @param key of the log, from elsewhere too
 * @throws ExitError `proofFailed` for a file without a checkpoint, or a key of another log
 */
export async function readKeptNote(path: string, shown: string, key: string | undefined): Promise<KeptNote> {
  const note = await parseLogFile(path, shown, readCheckpointNote)
  const { origin, size } = note
  const verifier = key === undefined ? undefined : verifierKeyOption(key)
  if (verifier !== undefined && origin !== verifier.name) {
    throw new ExitError(
      'proofFailed',
      `${shown} is a checkpoint of the log ${origin}, and the key is that of ${verifier.name}`,
    )
  }
  if (size === 0) throw new ExitError('proofFailed', `${shown} covers no record, and proves nothing`)
  return {
    origin,
    size,
    root: Buffer.from(note.root).toString('hex'),
    isSigned: verifier !== undefined,
    signer:
      verifier !== undefined && isSignedBy(note, verifier)
        ? Buffer.from(verifier.publicKey).toString('hex')
        : undefined,
    requireSigned: (handovers) => {
      if (verifier === undefined || isSignedBy(note, keyOfNote(verifier, size, handovers))) return
      const keys = handovers.length === 0 ? 'the key' : 'the key, or of the key that the journal has in force there'
      throw new ExitError('proofFailed', `${shown} has no valid signature of ${keys}`)
    },
  }
}

/** @throws ExitError `proofFailed` */
function keyOfNote(
  verifier: VerifierKey,
  size: number,
  handovers: VerificationReport['checkpoints']['handovers'],
): VerifierKey {
  const read = handovers.map((one) => ({
    origin: one.origin,
    size: one.size,
    oldKey: keyIn(one.origin, one.oldKey),
    newKey: keyIn(one.origin, one.newKey),
  }))
  return keyForSize(verifier, size, read)
}

/**
 * The origin of a log names its deployment, as the journal does.
 * @throws ExitError `proofFailed` for a checkpoint of another log, or without the signature that it should have
 */
export function requireSameLog({ origin }: KeptNote, { deploymentId, checkpoints }: VerificationReport): void {
  const isOwn = deploymentId === undefined || origin.split('/').includes(deploymentId)
  if (isOwn || checkpoints.last?.origin === origin) return
  const journal = `this is the journal of the deployment ${deploymentId}`
  throw new ExitError('proofFailed', `the checkpoint is of another log: its origin is ${origin}, and ${journal}`)
}

function keyIn(origin: string, digits: string): VerifierKey {
  return readVerifierKey(verifierKeyText(origin, Buffer.from(digits, 'hex')))
}
