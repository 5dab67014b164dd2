/** Which specs start nothing, so that many of them can share a process. It is read from their imports: no list is kept. */
import { existsSync } from 'node:fs'
import { importsOf } from './tidy/imports.ts'
import { readProjectFile } from './tidy/project-files.ts'

/** What starts a process, a thread, a server, a browser or a store. `node:net` is not here: most that import it read addresses. */
const STARTERS: ReadonlySet<string> = new Set([
  'koffi',
  'lmdb',
  'node:child_process',
  'node:http',
  'node:https',
  'node:tls',
  'node:vm',
  'node:worker_threads',
  'playwright-core',
  'uWebSockets.js',
])

interface Needs {
  readonly files: readonly string[]
  readonly packages: readonly string[]
}

/** Tells of spec files, by their path from the root, whether they are quick. Each file is read once. */
export class QuickSpecs {
  readonly #root: string
  readonly #needs = new Map<string, Needs>()

  constructor(root: string) {
    this.#root = root
  }

  /** Whether nothing that the file imports, at any distance, can start anything. */
  isQuick(path: string): boolean {
    const reached = new Set([path])
    for (const file of reached) {
      const { files, packages } = this.#needsOf(file)
      if (packages.some((name) => STARTERS.has(name))) return false
      for (const target of files) reached.add(target)
    }
    return true
  }

  #needsOf(path: string): Needs {
    let needs = this.#needs.get(path)
    if (needs === undefined) {
      // A worker's entry is named in a pattern that also finds what is not ours; types are gone when it runs.
      const file = existsSync(`${this.#root}/${path}`) ? readProjectFile(this.#root, path) : undefined
      const imports = file === undefined ? [] : importsOf(file).filter(({ typesOnly }) => !typesOnly)
      needs = {
        files: imports.flatMap(({ target }) => target ?? []),
        packages: imports.flatMap(({ target, specifier }) => (target === undefined ? specifier : [])),
      }
      this.#needs.set(path, needs)
    }
    return needs
  }
}
