import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

const BLOCK_BYTES = 512
const LOOK_MILLISECONDS = 500

/** Bytes that the files right in a directory take on the disk, room that was allocated ahead included. */
export function allocatedBytes(directory: string): number {
  return readdirSync(directory).reduce((sum, name) => {
    // Files come and go while the server works.
    const blocks = statSync(join(directory, name), { throwIfNoEntry: false })?.blocks ?? 0
    return sum + blocks * BLOCK_BYTES
  }, 0)
}

/**
 * Polls the size of a directory while `work` runs.
 * @returns what `work` returned, and the largest size seen
 */
export async function withLargestSize<T>(
  directory: string,
  work: () => Promise<T>,
): Promise<{ readonly result: T; readonly largestBytes: number }> {
  let largestBytes = allocatedBytes(directory)
  const timer = setInterval(() => {
    largestBytes = Math.max(largestBytes, allocatedBytes(directory))
  }, LOOK_MILLISECONDS)
  try {
    return { result: await work(), largestBytes }
  } finally {
    clearInterval(timer)
  }
}
