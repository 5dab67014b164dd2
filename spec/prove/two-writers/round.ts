/** One round: several servers are started at once on one directory. */
import { type ChildProcessByStdio, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { chmodSync, statSync } from 'node:fs'
import { exitTable } from '../../../cli/exit-codes.ts'
import type { StorePaths } from '../../../engine/disk/store-paths.ts'
import { type Finding, lost, wrong } from '../../support/dying-servers/client-findings.ts'
import { journalEntries } from '../../support/journal-entries.ts'
import { journalFaults } from '../store-at-rest.ts'
import { CONTESTED_BUCKET, type FromContender, type ToContender } from './messages.ts'

const CONTENDER = fileURLToPath(new URL('contender.js', import.meta.url))
/** A contender that has not said by then whether it serves hangs. */
const PATIENCE_MILLISECONDS = 120_000
/** Time in which those that serve write. */
const WRITING_MILLISECONDS = 300
const NOBODY = 65_534
const OPEN_TO_LOOK = 0o755
/** Network and process namespaces of its own; `sh` is there to bring the loopback up. */
const ISOLATED = [
  'unshare',
  '-n',
  '-p',
  '-f',
  '--kill-child',
  '--mount-proc',
  'sh',
  '-c',
  'ip link set lo up; "$@"',
  'sh',
]

/** Whether processes may be put into namespaces of their own here. */
export function canIsolate(): boolean {
  const [program = '', ...rest] = [...ISOLATED, 'true']
  return spawnSync(program, rest).status === 0
}

/** Where one of the servers runs. */
interface Contestant {
  /** Path of Node.js. */
  readonly node: string
  readonly isolated: boolean
}

export interface Round {
  readonly contestants: readonly Contestant[]
  /** Whether a stranger stands in the way: names that anybody can take, and the directory of the lock. */
  readonly squatted: boolean
  readonly end: ToContender
}

export interface RoundResult {
  readonly refused: number
  readonly acknowledged: number
  readonly findings: readonly Finding[]
}

/** Runs it on a store that earlier rounds may have left in whatever way. */
export async function runRound(paths: StorePaths, name: string, round: Round): Promise<RoundResult> {
  const findings: Finding[] = []
  const release = round.squatted ? await squat(paths, findings) : undefined
  const contenders = round.contestants.map((contestant, index) => new Contender(paths, `${name}-${index}`, contestant))
  await Promise.all(contenders.map(({ decided }) => decided))
  await pause(WRITING_MILLISECONDS)
  const serving = contenders.filter((contender) => contender.serves)
  if (serving.length > 1) findings.push(wrong(`${serving.length} servers serve one store`))
  if (serving.length === 0) findings.push(wrong('none of them serves'))
  await Promise.all(contenders.map((contender) => contender.end(round.end)))
  await release?.()
  for (const { fault } of contenders) if (fault !== undefined) findings.push(wrong(fault))
  const acknowledged = contenders.flatMap((contender) => contender.acknowledged)
  findings.push(...(await faultsOfJournal(paths, round.end, acknowledged)))
  const refused = contenders.length - serving.length
  return { refused, acknowledged: acknowledged.length, findings }
}

async function faultsOfJournal(
  paths: StorePaths,
  end: ToContender,
  acknowledged: readonly string[],
): Promise<Finding[]> {
  const faults = await journalFaults(paths, end === 'kill' ? 'killed' : 'in order')
  if (faults.length > 0) return faults.map(wrong)
  const written = new Set(
    journalEntries(paths.root).flatMap(({ resource, result }) => (result === 'success' ? [resource] : [])),
  )
  const gone = acknowledged.filter((key) => !written.has(`bucket:${CONTESTED_BUCKET}/${key}`))
  if (gone.length === 0) return []
  return [lost(`${gone.length} of ${acknowledged.length} acknowledged objects are not in the journal, which is intact`)]
}

/**
 * Takes the name that the lock once had, which any user can take, and lets another user try the directory of the lock.
 * @returns what gives the name back
 */
async function squat(paths: StorePaths, findings: Finding[]): Promise<() => Promise<unknown>> {
  const { dev, ino } = statSync(paths.root, { bigint: true })
  const server = createServer().listen(`\0object-store-${dev}-${ino}`)
  await once(server, 'listening')
  if (process.getuid?.() === 0) {
    chmodSync(paths.root, OPEN_TO_LOOK)
    const script = 'ls "$0" >/dev/null 2>&1 || touch "$0/squatter" 2>/dev/null'
    const entered = spawnSync('sh', ['-c', script, paths.lock], { uid: NOBODY, gid: NOBODY })
    if (entered.status === 0) findings.push(wrong('another user gets at the directory of the lock'))
  }
  return () => new Promise((done) => server.close(done))
}

class Contender {
  readonly acknowledged: string[] = []
  /** Resolves when it serves or has ended. */
  readonly decided: Promise<void>
  serves = false
  /** What it did that it must not do. */
  fault: string | undefined
  readonly #process: ChildProcessByStdio<Writable, Readable, null>
  readonly #ended: Promise<unknown>

  constructor(paths: StorePaths, name: string, { node, isolated }: Contestant) {
    const words = [...(isolated ? ISOLATED : []), node, CONTENDER, paths.root, name]
    const [program = '', ...rest] = words
    this.#process = spawn(program, rest, { stdio: ['pipe', 'pipe', 'inherit'] })
    // One that has ended already needs no order.
    this.#process.stdin.on('error', () => undefined)
    this.#ended = once(this.#process, 'exit')
    this.decided = new Promise((resolve) => {
      const watchdog = setTimeout(() => {
        this.fault = `hung for ${PATIENCE_MILLISECONDS} ms`
        this.#process.kill('SIGKILL')
      }, PATIENCE_MILLISECONDS)
      const decide = () => {
        clearTimeout(watchdog)
        resolve()
      }
      createInterface({ input: this.#process.stdout })
        .on('line', (line) => {
          this.#hear(JSON.parse(line) as FromContender)
          decide()
        })
        .once('close', decide)
    })
  }

  async end(order: ToContender): Promise<void> {
    this.#process.stdin.write(`${order}\n`)
    await this.#ended
  }

  #hear(message: FromContender): void {
    if ('serves' in message) this.serves = true
    if ('acknowledged' in message) this.acknowledged.push(message.acknowledged)
    if ('refused' in message && message.refused !== exitTable.directoryLocked.code) {
      this.fault = `a server was refused with ${message.refused}: ${message.reason}`
    }
    if ('ended' in message && message.ended !== null && message.ended !== 0) {
      this.fault = `a server that served ended with ${message.ended}`
    }
  }
}
