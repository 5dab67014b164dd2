import { CheckpointNoteError, readVerifierKey, type VerifierKey } from '../../engine/checkpoints/checkpoint-note.ts'
import { type Handover, keyForSize, readHandovers } from '../../engine/checkpoints/key-handover.ts'
import { ExitError } from '../exit-codes.ts'
import { readSmallFile } from '../terminal/read-file.ts'

const FILE_BYTES_MAXIMUM = 256 * 1024
/** A key can be rotated 100 times, and a note of that has less than 2 KiB. */
const HANDOVERS_BYTES_MAXIMUM = 512 * 1024

/**
 * A file of the log, parsed.
 * @param shown how the message names it
 * @throws ExitError `proofFailed` for a file of another form
 */
export async function parseLogFile<T>(
  path: string,
  shown: string,
  parse: (text: string) => T,
  bytesMaximum = FILE_BYTES_MAXIMUM,
): Promise<T> {
  const bytes = await readSmallFile(path, bytesMaximum)
  try {
    return parse(Buffer.from(bytes).toString())
  } catch (error) {
    if (!(error instanceof CheckpointNoteError)) throw error
    throw new ExitError('proofFailed', `${shown}: ${error.message}`)
  }
}

/** @throws ExitError `usage` when the text is not a key */
export function verifierKeyOption(key: string): ReturnType<typeof readVerifierKey> {
  try {
    return readVerifierKey(key)
  } catch (error) {
    throw new ExitError('usage', `--key: ${(error as Error).message}`)
  }
}

/**
 * The hand-overs of a file.
 * @throws ExitError `proofFailed` for a file of another form, or when one is not signed by both keys
 */
export function readHandoverFile(path: string, shown: string): Promise<Handover[]> {
  return parseLogFile(path, shown, readHandovers, HANDOVERS_BYTES_MAXIMUM)
}

/**
 * The key that signs checkpoints of a size, given a trusted key.
 * @throws ExitError `proofFailed` for hand-overs that contradict each other
 */
export function trustedKey(key: string, size: number, handovers: readonly Handover[]): VerifierKey {
  const trusted = verifierKeyOption(key)
  try {
    return keyForSize(trusted, size, handovers)
  } catch (error) {
    if (!(error instanceof CheckpointNoteError)) throw error
    throw new ExitError('proofFailed', `--handovers: ${error.message}`)
  }
}
