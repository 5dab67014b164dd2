/** Which files the traced calls are on. strace knows whole paths alone, so names that are still to come are foretold. */
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { volumeNumberOf } from '../../../engine/brands.ts'
import { nodeDisk } from '../../../engine/disk/node-disk.ts'
import { type StorePaths, volumeNumber } from '../../../engine/disk/store-paths.ts'
import { PayloadIds } from '../../../engine/payloads/payload-ids.ts'

export const AREAS = ['store', 'projections'] as const

/** The journal and the payloads, or what is made from them. */
export type Area = (typeof AREAS)[number]

/** Payload files that a script makes, and some more. */
const PAYLOADS_FORETOLD = 10

/**
 * Paths of an area: what is there, and what will be made. The reserve is left out, which is zeros and nothing else, and
 * so is the segment after the current one once it has its own name, which nobody can foretell.
 */
export function tracedPaths(paths: StorePaths, area: Area): string[] {
  if (area === 'projections') return [paths.projections, ...below(paths.projections)]
  const made = [paths.journalSpare, paths.volumeSpare, join(paths.journal, 'rewrite'), paths.aside]
  const there = [paths.root, paths.journal, paths.payloads, ...below(paths.journal), ...below(paths.payloads)]
  return [...new Set([...there, ...made, nextVolume(paths), ...payloadsToCome(paths)])]
}

function below(directory: string): string[] {
  const entries = readdirSync(directory, { recursive: true, withFileTypes: true })
  return entries.map(({ parentPath, name }) => join(parentPath, name))
}

function nextVolume(paths: StorePaths): string {
  const numbers = nodeDisk.list(paths.volumes).map((name) => volumeNumber(name) ?? 0)
  return paths.volume(volumeNumberOf(Math.max(0, ...numbers) + 1))
}

/** The next payload files of the running start, if it has made one. */
function payloadsToCome(paths: StorePaths): string[] {
  const files = below(paths.files).filter((path) => statSync(path).isFile())
  const newest = files.toSorted((left, right) => statSync(right).mtimeMs - statSync(left).mtimeMs).at(0)
  const name = newest?.split('/').at(-1)
  if (name === undefined) return []
  const ids = PayloadIds.after(name)
  return Array.from({ length: PAYLOADS_FORETOLD }, () => ids.next()).flatMap((next) => {
    return [paths.upload(next), paths.fileDirectory(next), paths.file(next)]
  })
}
