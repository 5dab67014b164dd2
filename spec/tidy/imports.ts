/** What a TypeScript file asks of others. The formatter writes imports in one form, so they need no parser. */
import { dirname, join } from 'node:path'
import type { ProjectFile } from './project-files.ts'

export interface Import {
  readonly from: string
  readonly line: number
  readonly specifier: string
  /** Path from the root, for a file of the project. */
  readonly target: string | undefined
  /** Nothing of it is there at run time. */
  readonly typesOnly: boolean
  /** The entry of a worker thread, named by `new URL`. */
  readonly isWorker: boolean
  /** Names in braces; `*` for a namespace or a default. */
  readonly names: readonly string[]
}

/** `import ... from 'x'` and `export ... from 'x'`; what is between never holds a quote, a call or an assignment. */
const STATEMENT = /^(?:import|export) (?<types>type )?(?:(?<what>[^'"`=:;()]+) from )?'(?<specifier>[^']+)'/gm
const DYNAMIC = /\bimport\('(?<specifier>[^']+)'\)/g
/** A worker thread's entry is named by the file that it is compiled to. */
const WORKER = /new URL\('(?<specifier>\.[^']+)\.js', import\.meta\.url\)/g

function namesOf(what: string | undefined): string[] {
  const braces = /\{(?<names>[^}]*)\}/.exec(what ?? '')?.groups?.['names']
  if (braces === undefined) return ['*']
  return braces
    .split(',')
    .map((name) =>
      name
        .trim()
        .replace(/^type /, '')
        .replace(/ as .*/, ''),
    )
    .filter((name) => name !== '')
}

export function importsOf(file: ProjectFile): Import[] {
  const text = file.lines.join('\n')
  const lineAt = (index: number) => text.slice(0, index).split('\n').length
  const found = (match: RegExpMatchArray, specifier: string, isWorker = false): Import => ({
    from: file.path,
    line: lineAt(match.index ?? 0),
    specifier,
    target: specifier.startsWith('.') ? join(dirname(file.path), specifier) : undefined,
    typesOnly: match.groups?.['types'] !== undefined,
    isWorker,
    names: namesOf(match.groups?.['what']),
  })
  return [
    ...[...text.matchAll(STATEMENT)].map((match) => found(match, match.groups?.['specifier'] ?? '')),
    ...[...text.matchAll(DYNAMIC)].map((match) => found(match, match.groups?.['specifier'] ?? '')),
    ...[...text.matchAll(WORKER)].map((match) => found(match, `${match.groups?.['specifier'] ?? ''}.ts`, true)),
  ]
}

/** Name of the package of a specifier, scope included. */
export function packageOf(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')
}
