/** Worlds that are kept: each a file with its seed, and why it is kept. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { WorldSeed } from './world.ts'

const FOLDER = 'spec/prove/world/corpus'

export interface KeptWorld extends WorldSeed {
  readonly name: string
  readonly why: string
}

/** All of them, by name. */
export function keptWorlds(): KeptWorld[] {
  const names = readdirSync(FOLDER).filter((name) => name.endsWith('.json'))
  return names.toSorted().map((name) => {
    const kept = JSON.parse(readFileSync(join(FOLDER, name), 'utf8')) as Omit<KeptWorld, 'name'>
    return { ...kept, name: name.slice(0, -'.json'.length) }
  })
}
