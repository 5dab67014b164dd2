/** The file system of the store takes no writes. ext4 does that to itself after an error of the disk. */
export class ReadOnlyFileSystemError extends Error {
  override readonly name = 'ReadOnlyFileSystemError'

  /** @param cause what the disk refused */
  constructor(cause: Error) {
    const found = cause.message
    super(
      `the file system of the store is read-only (${found}): the kernel's log says why (dmesg); check the disk, mount it for writing and start the server`,
      { cause },
    )
  }
}

/** Causes that are looked at. */
const CAUSES_MAXIMUM = 10

/** An error that a read-only file system is the cause of, in those words; undefined for any other. */
export function readOnlyOf(error: unknown): ReadOnlyFileSystemError | undefined {
  let cause = error
  for (let depth = 0; depth < CAUSES_MAXIMUM && cause instanceof Error; depth += 1) {
    if (cause instanceof ReadOnlyFileSystemError) return cause
    if ((cause as NodeJS.ErrnoException).code === 'EROFS') return new ReadOnlyFileSystemError(cause)
    cause = cause.cause
  }
  return undefined
}
