/** Installing as users do: a copy of the checkout, npm, and what came of it. */
import { execFile } from 'node:child_process'
import { cpSync, lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { CreateBucketCommand, GetObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3'
import type { Test } from 'tap'
import { environment } from '../../cli/environment.ts'
import { startProcess } from '../support/server-process.ts'
import { projectPaths } from '../tidy/project-files.ts'

const run = promisify(execFile)
const OUTPUT_MAXIMUM = 64 * 1024 ** 2
const BLOCK = 512
const OWN_VARIABLES = /^(npm_|NODE_OPTIONS$|TAP)/

/** The environment without what npm and tap gave to this process: npm would take its settings from there. */
function plainEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !OWN_VARIABLES.test(name)))
}

/** Runs a program; gives its output. A failure has both outputs in its message. */
export async function runs(directory: string, program: string, ...words: readonly string[]): Promise<string> {
  const options = { cwd: directory, env: plainEnvironment(), maxBuffer: OUTPUT_MAXIMUM }
  try {
    return (await run(program, words, options)).stdout
  } catch (error) {
    const { message, stdout = '', stderr = '' } = error as Error & { stdout?: string; stderr?: string }
    throw new Error(`${message}\n${stdout}\n${stderr}`, { cause: error })
  }
}

export function npm(directory: string, ...words: readonly string[]): Promise<string> {
  return runs(directory, 'npm', ...words, '--no-audit', '--no-fund', '--prefer-offline')
}

/** Copies what git would track into a directory: a checkout in which nothing was installed and nothing compiled. */
export function copyCheckout(directory: string): void {
  for (const path of projectPaths('.')) {
    mkdirSync(dirname(join(directory, path)), { recursive: true })
    cpSync(path, join(directory, path))
  }
}

/** What a directory takes on the disk, in MiB, as `du` counts. */
export function mebibytesOf(directory: string): number {
  const blocks = readdirSync(directory, { recursive: true, encoding: 'utf8' }).map(
    (name) => lstatSync(join(directory, name)).blocks,
  )
  return (blocks.reduce((sum, each) => sum + each, 0) * BLOCK) / 1024 ** 2
}

/** Starts the server by the path of its command, stores an object, and reads it after a restart. */
export async function storesAnObject(t: Test, program: string): Promise<void> {
  const dataDirectory = t.testdir()
  const there = { Bucket: 'first', Key: 'hello.txt' }
  const server = await startProcess({ program, dataDirectory })
  await server.s3.send(new CreateBucketCommand({ Bucket: there.Bucket }))
  await server.s3.send(new PutObjectCommand({ ...there, Body: 'hello' }))
  const console = await fetch(server.consoleUrl)
  t.match([console.status, console.headers.get('content-type')], [200, /^text\/html/], 'the console is there')
  await server.stop()
  const again = await startProcess({ program, dataDirectory })
  const { Body } = await again.s3.send(new GetObjectCommand(there))
  t.equal(await Body?.transformToString(), 'hello')
  await again.stop()
}

/** Packs this checkout, which is compiled, into a directory; gives the path of the package. */
export async function packedInto(directory: string): Promise<string> {
  const output = await npm('.', 'pack', '--ignore-scripts', '--pack-destination', directory)
  return join(directory, output.trim().split('\n').at(-1) ?? '')
}

/** The same package with another version. */
export async function withVersion(packed: string, version: string): Promise<string> {
  const directory = join(dirname(packed), version)
  mkdirSync(directory)
  await runs(directory, 'tar', '--extract', '--gzip', '--file', packed)
  const path = join(directory, 'package/package.json')
  const manifest = JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>
  writeFileSync(path, JSON.stringify({ ...manifest, version }))
  const made = join(directory, `object-store-${version}.tgz`)
  await runs(directory, 'tar', '--create', '--gzip', '--file', made, 'package')
  return made
}

/** Makes a Debian package of a package of npm, not compressed, in a directory; gives its path. */
export async function debianPackage(packed: string, directory: string): Promise<string> {
  const output = await runs('.', process.execPath, 'cli/packaging/debian/build.mjs', packed, directory, 'none')
  const made = /'([^']+\.deb)'/.exec(output)?.[1]
  if (made === undefined) throw new Error(output)
  return made
}
