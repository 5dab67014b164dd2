/** Copies of the compiled program in a directory of their own, with a fault put into each. What is copied stays as it is. */
import * as fs from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Edit } from './mutant.ts'

/** The compiled program, and the checkout that it is in. */
const BUILD = fileURLToPath(new URL('../../..', import.meta.url))
const CHECKOUT = dirname(join(BUILD, '.'))
/** What a world runs; the bundled program is not of it. */
const FOLDERS = ['engine', 'projections', 'planes', 'workers', 'cli', 'spec'] as const
/** What a server gives to browsers, which no edit is of. */
const CONSOLE = 'console'

/** An edit does not fit the compiled program: its text is not there, or more than once. */
export class EditError extends Error {
  override readonly name = 'EditError'
}

/** The compiled file of an edit with the edit made, and so with each edit of the same file. @throws EditError */
export function mutated(edits: readonly Edit[], file: string): string {
  let text = fs.readFileSync(join(BUILD, `${file}.js`), 'utf8')
  for (const { search, replacement } of edits.filter((edit) => edit.file === file)) {
    const times = text.split(search).length - 1
    if (times !== 1) throw new EditError(`${file} has the text ${times} times: ${search}`)
    text = text.replace(search, () => replacement)
  }
  return text
}

/**
 * Makes a copy of the program with some edits.
 * @param directory empty; the caller removes it
 * @returns path of the copy of `build`
 * @throws EditError
 */
export function mutatedProgram(edits: readonly Edit[], directory: string): string {
  const copy = join(directory, 'build')
  fs.mkdirSync(copy)
  for (const name of fs.readdirSync(CHECKOUT)) {
    if (name !== 'build') fs.symlinkSync(join(CHECKOUT, name), join(directory, name))
  }
  fs.symlinkSync(join(BUILD, CONSOLE), join(copy, CONSOLE))
  const edited = new Map(edits.map(({ file }) => [`${file}.js`, mutated(edits, file)]))
  for (const folder of FOLDERS) {
    for (const path of fs.readdirSync(join(BUILD, folder), { recursive: true, encoding: 'utf8' })) {
      if (path.endsWith('.js')) putFile(join(folder, path), copy, edited.get(join(folder, path)))
    }
  }
  return copy
}

/** @param text what the file holds in place of what it held */
function putFile(path: string, copy: string, text: string | undefined): void {
  const target = join(copy, path)
  fs.mkdirSync(dirname(target), { recursive: true })
  if (text === undefined) fs.copyFileSync(join(BUILD, path), target)
  else fs.writeFileSync(target, text)
}
