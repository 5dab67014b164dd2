/** A file system that is small enough to be filled. */
import { spawnSync } from 'node:child_process'
import { closeSync, openSync, rmSync, writeSync } from 'node:fs'
import type { Test } from 'tap'
import { temporaryDirectory } from '../test-clients.ts'

const MEBIBYTE = 1024 ** 2

/**
 * Mounts a file system of so many MiB in memory; `unmount` takes it away with all that is in it. Needs the right to mount,
 * which the root of a machine or container has.
 */
export function mountSmallDisk(mebibytes: number): { readonly directory: string; unmount(): void } {
  const directory = temporaryDirectory()
  const options = ['-t', 'tmpfs', '-o', `size=${mebibytes}m`, 'object-store-spec', directory]
  const mounted = spawnSync('mount', options, { encoding: 'utf8' })
  if (mounted.status !== 0) throw new Error(`a tmpfs cannot be mounted, run this as root: ${mounted.stderr}`)
  const unmount = () => {
    spawnSync('umount', ['--lazy', directory])
    rmSync(directory, { recursive: true })
  }
  return { directory, unmount }
}

/** One of 300 MiB that goes when the test ends. */
export function smallDisk(t: Test): string {
  const { directory, unmount } = mountSmallDisk(300)
  t.teardown(unmount)
  return directory
}

/** Fills what is left of a file system. */
export function fill(path: string): void {
  const file = openSync(path, 'w')
  const piece = Buffer.alloc(MEBIBYTE, 1)
  try {
    for (;;) writeSync(file, piece)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
  } finally {
    closeSync(file)
  }
}
