/** Inputs that once broke something or lead far into a reader; every run begins with them. */
import { hash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Of the sources, which the built program is beside. */
export const CORPUS_DIRECTORY = fileURLToPath(new URL('../../../../spec/prove/fuzz/corpus', import.meta.url))

const FILE_NAME = /^([a-z0-9-]+)-[0-9a-f]{12}$/

/** The inputs of each target by its name. */
export function readCorpus(directory: string): Map<string, Buffer[]> {
  const inputs = new Map<string, Buffer[]>()
  for (const name of readdirSync(directory).sort()) {
    const target = targetOfFile(name)
    const others = inputs.get(target) ?? []
    inputs.set(target, [...others, readFileSync(join(directory, name))])
  }
  return inputs
}

/** The target that a file of the corpus is for. */
export function targetOfFile(name: string): string {
  const target = FILE_NAME.exec(name)?.[1]
  if (target === undefined) throw new Error(`${name} is no name of a file of the corpus`)
  return target
}

/** Keeps an input, named by its target and content. Returns the path of its file. */
export function keepInput(directory: string, target: string, input: Uint8Array): string {
  mkdirSync(directory, { recursive: true })
  const path = join(directory, `${target}-${hash('sha256', input).slice(0, 12)}`)
  writeFileSync(path, input)
  return path
}
