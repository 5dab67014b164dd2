/** The files of the project as the house rules see them: what git would track, without asking git. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface ProjectFile {
  /** From the root, with `/`. */
  readonly path: string
  readonly lines: readonly string[]
}

/** One breach of a house rule. */
export interface Finding {
  readonly path: string
  /** Counted from 1; 0 speaks of the file as a whole. */
  readonly line: number
  readonly message: string
}

/** The folders that are shipped; everything else is about them. */
export const PRODUCTION = ['engine', 'projections', 'planes', 'workers', 'cli'] as const

/** `path:line: message`, the way an editor jumps to it. */
export function findingText({ path, line, message }: Finding): string {
  return `${path}:${line}: ${message}`
}

export function fileOf(path: string, text: string): ProjectFile {
  return { path, lines: text.split('\n') }
}

/** Which names `.gitignore` leaves out. It knows four forms of line, and a fifth is an error here. */
export function ignoreRule(gitignore: string): (path: string) => boolean {
  const rules = gitignore
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line): ((path: string) => boolean) => {
      const form = /^(?<top>\/)?(?<star>\*)?(?<name>[\w.-]+)\/?$/.exec(line)?.groups
      const name = form?.['name']
      if (name === undefined) throw new Error(`.gitignore: "${line}" has a form that spec/tidy does not know`)
      if (form?.['top'] !== undefined) return (path) => path === name
      if (form?.['star'] !== undefined) return (path) => path.endsWith(name)
      return (path) => path.split('/').at(-1) === name
    })
  return (path) => path === '.git' || rules.some((rule) => rule(path))
}

/** Names that are in a directory and not ignored; directories end with `/`. */
function namesIn(root: string, directory: string, ignored: (path: string) => boolean): string[] {
  return readdirSync(join(root, directory), { withFileTypes: true })
    .filter((entry) => !ignored(directory + entry.name))
    .map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name))
    .sort()
}

/** Paths of all files under `root` that are not ignored. */
export function projectPaths(root: string): string[] {
  const ignored = ignoreRule(readFileSync(join(root, '.gitignore'), 'utf8'))
  const walk = (directory: string): string[] =>
    namesIn(root, directory, ignored).flatMap((name) =>
      name.endsWith('/') ? walk(directory + name) : [directory + name],
    )
  return walk('')
}

/** A file that is text; a zero byte says that it is not. */
export function readProjectFile(root: string, path: string): ProjectFile | undefined {
  const text = readFileSync(join(root, path), 'utf8')
  return text.includes('\0') ? undefined : fileOf(path, text)
}

export function isProduction(path: string): boolean {
  return PRODUCTION.some((folder) => path.startsWith(`${folder}/`))
}

/** Lines that are not comments, with their numbers. The formatter leaves comments where this can tell. */
export function codeLines(file: ProjectFile): { readonly line: number; readonly text: string }[] {
  return file.lines.flatMap((text, index) =>
    /^\s*(\/\/|\/\*|\*[ /]|\*$)/.test(text) ? [] : [{ line: index + 1, text }],
  )
}
