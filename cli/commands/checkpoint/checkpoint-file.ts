import { CheckpointNoteError, readVerifierKey } from '../../../engine/transparency/checkpoint-note.ts'
import { ExitError } from '../../exit-codes.ts'
import { readSmallFile } from '../proof/read-file.ts'

const FILE_BYTES_MAXIMUM = 256 * 1024

/**
 * A file of the log, parsed.
 * @param shown how the message names it
 * @throws ExitError `proofFailed` for a file of another form
 */
export async function parseLogFile<T>(path: string, shown: string, parse: (text: string) => T): Promise<T> {
  const bytes = await readSmallFile(path, FILE_BYTES_MAXIMUM)
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
