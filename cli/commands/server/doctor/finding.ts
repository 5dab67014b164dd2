import { DiskFullError } from '../../../../engine/disk/disk.ts'
import { readOnlyOf } from '../../../../engine/disk/read-only.ts'
import { HEAL_ADVICE } from '../../../server/store/heal-advice.ts'
import { NewerFormatError, StoreUnreleasedError } from '../../../../engine/errors.ts'

/** The result of one check. A failure keeps the server from working; a warning does not. */
export interface Finding {
  readonly check: string
  readonly status: 'ok' | 'warning' | 'failed' | 'skipped'
  /** What was found, in one sentence; never a secret. */
  readonly detail: string
  /** What to do next; of warnings and failures. */
  readonly next?: string
}

/** What a check finds; a text means that all is well. */
export type Found = string | Omit<Finding, 'check'>

/** A failure of a check, with what to do about it. */
export class DoctorFailure extends Error {
  override readonly name = 'DoctorFailure'
  readonly next: string

  constructor(detail: string, next: string) {
    super(detail)
    this.next = next
  }
}

/**
 * Runs a check, which passes, warns, or fails by throwing.
 * @param next what to do about a warning or a failure that does not say it
 */
export async function findingOf(check: string, next: string, run: () => Found | Promise<Found>): Promise<Finding> {
  try {
    const found = await run()
    if (typeof found === 'string') return { check, status: 'ok', detail: found }
    return found.status === 'warning' ? { check, next, ...found } : { check, ...found }
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error)
    return { check, status: 'failed', detail, next: nextOf(error) ?? next }
  }
}

/** What helps against a failure wherever it is met. */
function nextOf(error: unknown): string | undefined {
  if (error instanceof DoctorFailure) return error.next
  if (readOnlyOf(error) !== undefined)
    return "find the reason in the kernel's log (dmesg), check the disk, mount it for writing"
  if (error instanceof DiskFullError) return 'free some space, or use a larger disk'
  if (error instanceof NewerFormatError) return 'start the newer version, or restore the backup from before the upgrade'
  if (error instanceof StoreUnreleasedError)
    return 'start the build that wrote it, and copy its objects over S3 into a new store'
  const { code = '' } = error as NodeJS.ErrnoException
  if (code === 'EIO') return `read the kernel's log (dmesg): the disk fails; ${HEAL_ADVICE}`
  if (code === 'EACCES' || code === 'EPERM') {
    return 'run this as the account of the server, and give that account the directory and all in it (chown -R)'
  }
  return undefined
}
