/** Programs of other people in Go, built where Go and its modules can be had, outside of the project's tree. */
import { copyFileSync, existsSync, mkdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { run } from './client-programs.ts'

const BUILD_SECONDS = 240

/** Its path; or the reason why it cannot be built. */
export type Built = { readonly path: string } | { readonly reason: string }

/** What keeps modules and builds below a directory. */
export function goEnvironment(place: string): Readonly<Record<string, string>> {
  return { GOPATH: join(place, 'go'), GOCACHE: join(place, 'cache'), GOFLAGS: '-modcacherw' }
}

async function isGoMissing(): Promise<boolean> {
  return (await run('go', ['version']).catch(() => ({ code: 1 }))).code !== 0
}

/** Builds a command of a module, such as `example.com/module/cmd/name@v1.0.0`. */
export async function builtCommand(place: string, command: string): Promise<Built> {
  if (await isGoMissing()) return { reason: 'Go is not installed' }
  const environment = goEnvironment(place)
  const { stderr } = await run('timeout', [String(BUILD_SECONDS), 'go', 'install', command], { environment })
  const path = join(place, 'go', 'bin', basename(command.split('@')[0] ?? ''))
  return existsSync(path) ? { path } : { reason: `${basename(path)} was not built: ${stderr.slice(-200)}` }
}

/** Builds a program of one file, with the modules that it uses. */
export async function builtFile(place: string, file: string, modules: readonly string[]): Promise<Built> {
  if (await isGoMissing()) return { reason: 'Go is not installed' }
  const name = basename(file, '.go')
  const directory = join(place, name)
  mkdirSync(directory)
  copyFileSync(file, join(directory, basename(file)))
  const options = { environment: goEnvironment(place), directory }
  const steps = [
    ['mod', 'init', name],
    ['get', ...modules],
    ['build', '-o', join(directory, 'built'), '.'],
  ]
  for (const words of steps) {
    const { code, stderr } = await run('timeout', [String(BUILD_SECONDS), 'go', ...words], options)
    if (code !== 0) return { reason: `${name} was not built: ${stderr.slice(-200)}` }
  }
  return { path: join(directory, 'built') }
}
