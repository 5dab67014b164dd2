/** What the makers of golden stores share. */
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { StorePaths } from '../../../engine/disk/store-paths.ts'
import { goldenAnswers, kindsIn, startGolden } from './golden-store.ts'

function isDone(answer: unknown): boolean {
  return (answer as { readonly status: number }).status === 200
}

/**
 * Makes a golden store with these kinds of change, and what it answers beside it.
 * @param fill makes the store in a directory
 */
export async function makeGolden(
  target: string,
  kinds: readonly string[],
  fill: (root: string) => Promise<void>,
): Promise<void> {
  if (existsSync(target)) throw new Error(`${target} is there: a golden store is never made again`)
  const root = join(target, 'data')
  mkdirSync(root, { recursive: true })
  await fill(root)
  const missing = kinds.filter((name) => !kindsIn(root).has(name))
  if (missing.length > 0) throw new Error(`the store has no ${missing.join(', ')}`)
  const copy = mkdtempSync(join(tmpdir(), 'golden-'))
  try {
    cpSync(root, copy, { recursive: true })
    const server = await startGolden(copy)
    // What the store does not have is answered with the id of the request.
    const answers = Object.entries(await goldenAnswers(server)).filter(([, answer]) => isDone(answer))
    writeFileSync(join(target, 'expected.json'), `${JSON.stringify(Object.fromEntries(answers), null, 1)}\n`)
    await server.stop()
  } finally {
    rmSync(copy, { recursive: true })
  }
  removeDerived(new StorePaths(root))
}

/** Leaves what a golden store keeps: no rows, spares, locks and uploads. */
export function removeDerived(paths: StorePaths): void {
  for (const path of [
    paths.projections,
    paths.projectionsFollower,
    paths.lock,
    paths.journalSpare,
    paths.volumeSpare,
    paths.holds,
    paths.uploads,
  ])
    rmSync(path, { recursive: true, force: true })
}
