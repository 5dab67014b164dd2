import { constants } from 'node:os'
import { DescriptorsExhaustedError, DiskFullError, isDiskFull } from '../engine/disk/disk.ts'

const { ENOSPC, EDQUOT, EFBIG, EIO, ENOMEM, EMFILE, ENFILE } = constants.errno
/** EIO is what LMDB says of a write of which the disk took a part only. */
const OF_FULL_DISK: ReadonlySet<unknown> = new Set([ENOSPC, EDQUOT, EFBIG, EIO])
/** LMDB's errors have the system's number, Node's have the name. */
const OF_HOST: ReadonlySet<unknown> = new Set([ENOSPC, EDQUOT, EFBIG, ENOMEM, EMFILE, ENFILE, 'ENOMEM'])

function codeOf(error: unknown): unknown {
  return error instanceof Error ? (error as { readonly code?: unknown }).code : undefined
}

/** An error of writing rows: a DiskFullError where LMDB says that they did not fit, and otherwise the error as it is. */
export function asFullDisk(error: unknown): unknown {
  return OF_FULL_DISK.has(codeOf(error)) ? new DiskFullError((error as Error).message, { cause: error }) : error
}

/** Whether an error is of the host, which is short of space, memory or descriptors, so that it says nothing about the rows. */
export function isOfHost(error: unknown): boolean {
  return isDiskFull(error) || error instanceof DescriptorsExhaustedError || OF_HOST.has(codeOf(error))
}
