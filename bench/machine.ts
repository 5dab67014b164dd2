import { readFileSync, statfsSync } from 'node:fs'
import { cpus, release, totalmem } from 'node:os'
import { fileURLToPath } from 'node:url'
import type { Children } from './children.ts'

/** Machine, version and conditions of a run. */
export interface Circumstances {
  /** RFC 3339, UTC. */
  readonly date: string
  /** Abbreviated hash; `unknown` outside of a repository. */
  readonly commit: string
  /** True when files differ from the commit. */
  readonly dirty: boolean
  readonly processor: string
  readonly cores: number
  readonly memoryGibibytes: number
  readonly kernel: string
  readonly node: string
  /** Type of the file system that holds the data directories. */
  readonly fileSystem: string
  readonly loadAverageBefore: number
}

const REPOSITORY = fileURLToPath(new URL('../../', import.meta.url))
const GIT_TIMEOUT_MILLISECONDS = 10_000

/** Magic numbers of statfs(2) by name; a file system in memory makes figures of durable writes worthless. */
const FILE_SYSTEMS: Readonly<Record<number, string>> = {
  0xef53: 'ext4',
  0x58465342: 'xfs',
  0x9123683e: 'btrfs',
  0x2fc12fc1: 'zfs',
  0x794c7630: 'overlay',
  0x01021994: 'tmpfs (in memory: nothing on it is durable)',
}

export async function readCircumstances(children: Children, directory: string): Promise<Circumstances> {
  const [commit, changes] = await Promise.all([
    git(children, ['rev-parse', '--short=12', 'HEAD']),
    git(children, ['status', '--porcelain']),
  ])
  const processors = cpus()
  const { type } = statfsSync(directory)
  return {
    date: new Date().toISOString(),
    commit: commit?.trim() ?? 'unknown',
    dirty: changes !== undefined && changes !== '',
    processor: processors[0]?.model ?? 'unknown',
    cores: processors.length,
    memoryGibibytes: Math.round(totalmem() / 1024 ** 3),
    kernel: release(),
    node: process.version,
    fileSystem: FILE_SYSTEMS[type] ?? `0x${type.toString(16)}`,
    loadAverageBefore: Number(readFileSync('/proc/loadavg', 'latin1').split(' ')[0]),
  }
}

async function git(children: Children, args: readonly string[]): Promise<string | undefined> {
  try {
    const outcome = await children.run('git', args, {
      timeoutMilliseconds: GIT_TIMEOUT_MILLISECONDS,
      workingDirectory: REPOSITORY,
    })
    return outcome.exitCode === 0 ? outcome.stdout : undefined
  } catch {
    return undefined
  }
}
