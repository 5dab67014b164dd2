import { ExitError } from '../../exit-codes.ts'
import { exitOfError } from '../../server/engine-exit.ts'
import type { ProgressBar } from '../../terminal/progress-bar.ts'
import { quantityOption } from '../../commands/option-values.ts'

/** Less would stop a backup rather than slow it. */
const RATE_MINIMUM = 64 * 1024

/** Bytes a second. @throws ExitError `usage` */
export function rateOption(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const rate = quantityOption('--rate', text, 'bytes/s')
  if (rate >= RATE_MINIMUM) return rate
  throw new ExitError('usage', `--rate takes at least 64KiB a second, not ${text}`)
}

/**
 * Does the work of a command on a backup.
 * @throws ExitError with the exit code of the cause
 */
export async function backupWork<T>(bar: ProgressBar, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof ExitError) throw error
    const { name, message } = error as Error
    throw new ExitError(exitOfError(name), message, { cause: error })
  } finally {
    bar.clear()
  }
}
