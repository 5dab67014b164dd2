/** Everything durable is written through one door, which syncs and whose failures are known. */
import type { Import } from './imports.ts'
import { codeLines, type Finding, isProduction, type ProjectFile } from './project-files.ts'

const DOOR = 'engine/disk/'
const INSTEAD = 'writes go through a Disk (engine/disk/disk.ts): it checks the count of bytes and syncs names too'

/** What any file may use of node:fs: it looks and does not touch. */
const READING: readonly string[] = [
  'accessSync',
  'close',
  'closeSync',
  'constants',
  'createReadStream',
  'existsSync',
  'fstatSync',
  'open',
  'openSync',
  'read',
  'readFile',
  'readFileSync',
  'readSync',
  'readdir',
  'lstatSync',
  'readdirSync',
  'stat',
  'statSync',
]

/**
 * No part of the store: the secrets file of the quick start, which is written before there is one, and what a client reads from
 * a pipe, whose length it must know before it sends.
 */
const EXCEPTIONS: Readonly<Record<string, readonly string[]>> = {
  'cli/commands/object/put.ts': ['createWriteStream', 'mkdtempSync', 'rmSync'],
  'cli/commands/quickstart/secrets.ts': ['linkSync', 'mkdirSync', 'rmSync'],
  'cli/checkpoints/export.ts': ['chmodSync', 'mkdirSync', 'rmSync'],
  'cli/config/durable-file.ts': ['fchownSync', 'fsyncSync', 'linkSync', 'renameSync', 'rmSync', 'writeSync'],
}

export function writeFindings(imports: readonly Import[]): Finding[] {
  return imports.flatMap(({ from, line, specifier, names, typesOnly }) => {
    if (!/^(?:node:)?fs(?:\/promises)?$/.test(specifier)) return []
    if (typesOnly || !isProduction(from) || from.startsWith(DOOR)) return []
    return names
      .filter((name) => !READING.includes(name) && !EXCEPTIONS[from]?.includes(name))
      .map((name) => ({ path: from, line, message: `${name} of ${specifier}; ${INSTEAD}` }))
  })
}

/** `open` reads only when its flags say so. */
export function openFindings(file: ProjectFile): Finding[] {
  if (!isProduction(file.path) || file.path.startsWith(DOOR) || file.path in EXCEPTIONS) return []
  return codeLines(file).flatMap(({ line, text }) =>
    /\b(?:openSync|await open)\((?![^)]*, 'r'\))/.test(text) ? [{ path: file.path, line, message: INSTEAD }] : [],
  )
}
