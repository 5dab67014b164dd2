/**
 * Faults of system calls in a running process, by strace (Debian package). Its traps: only calls that are traced are
 * tampered with, `when` counts per thread, and a signal alone is not marked in the log (reliability rules, X5).
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'

const LOOK_MILLISECONDS = 5

/** Settings of a traced server: calls are then in the same thread on every run, and none goes round the tracer. */
export const TRACEABLE = { UV_THREADPOOL_SIZE: '1', UV_USE_IO_URING: '0' } as const

export interface TraceOptions {
  /** Where strace writes. */
  readonly log: string
  /** System calls to trace. */
  readonly calls: readonly string[]
  /** What is done to them, as strace says it: `error=EIO:when=3`. */
  readonly injection?: string
  /** Only calls on these; everything by default. */
  readonly paths?: readonly string[]
  /** Bytes of each string argument that are logged. Default 32. */
  readonly stringBytes?: number
}

/** Traces every thread of a process from when this resolves; strace ends with the process. */
export async function trace(process: ChildProcess, options: TraceOptions): Promise<ChildProcess> {
  const pid = process.pid ?? 0
  const calls = options.calls.join()
  const words = ['-f', '-y', '-ttt', '-T', '-p', String(pid), '-o', options.log, '-e', `trace=${calls}`]
  if (options.injection !== undefined) words.push('-e', `inject=${calls}:${options.injection}`)
  if (options.stringBytes !== undefined) words.push('-s', String(options.stringBytes))
  for (const path of options.paths ?? []) words.push('-P', path)
  const strace = spawn('strace', words, { stdio: ['ignore', 'ignore', 'pipe'] })
  let said = ''
  strace.stderr.on('data', (piece) => (said += String(piece)))
  strace.on('error', (error) => (said += String(error)))
  while (!isTraced(pid)) {
    if (strace.exitCode !== null || strace.pid === undefined) throw new Error(`strace cannot trace the server: ${said}`)
    if (process.exitCode !== null || process.signalCode !== null) throw new Error('it ended before it was traced')
    await pause(LOOK_MILLISECONDS)
  }
  return strace
}

/** Resolves when strace has written all of its log, which it has when what it traced has ended. */
export async function traceEnded(strace: ChildProcess): Promise<void> {
  if (strace.exitCode === null && strace.signalCode === null) await once(strace, 'exit')
}

/** Whether every thread of a process is traced. */
function isTraced(pid: number): boolean {
  const isThreadTraced = (thread: string) =>
    !/^TracerPid:\t0$/m.test(readFileSync(`/proc/${pid}/task/${thread}/status`, 'utf8'))
  try {
    return readdirSync(`/proc/${pid}/task`).every(isThreadTraced)
  } catch {
    // A thread that ended meanwhile: the next look is at those that are left.
    return false
  }
}

/** One system call of the log. Times in seconds since the Unix epoch. */
export interface TracedCall {
  readonly thread: number
  readonly call: string
  /** The first file that it names, or that its descriptor stands for; empty where there is none. */
  readonly path: string
  /** As they stand in the log. */
  readonly words: string
  readonly began: number
  /** Undefined when the process ended in it. */
  readonly ended: number | undefined
  readonly injected: boolean
}

const LINE = /^(?<thread>\d+) +(?<time>[\d.]+) (?<rest>.*)$/
const CALL = /^(?<call>\w+)\((?<words>.*)$/
const RESUMED = /^<\.\.\. \w+ resumed>(?<words>.*)$/

/** The calls of a log of `trace`, in the order in which they ended. */
export function tracedCalls(log: string): TracedCall[] {
  const calls: TracedCall[] = []
  const unfinished = new Map<number, { readonly call: string; readonly words: string; readonly began: number }>()
  for (const line of readFileSync(log, 'utf8').split('\n')) {
    const { thread, time, rest = '' } = LINE.exec(line)?.groups ?? {}
    if (thread === undefined) continue
    const resumed = RESUMED.exec(rest)?.groups?.['words']
    const fresh = CALL.exec(rest)?.groups
    const open =
      resumed === undefined
        ? fresh && { call: fresh['call'] ?? '', words: fresh['words'] ?? '', began: Number(time) }
        : unfinished.get(Number(thread))
    if (open === undefined) continue
    unfinished.set(Number(thread), open)
    if (rest.endsWith('<unfinished ...>')) continue
    unfinished.delete(Number(thread))
    calls.push(callOf(Number(thread), open.call, open.words + (resumed ?? ''), open.began))
  }
  for (const [thread, { call, words, began }] of unfinished) calls.push(callOf(thread, call, words, began))
  return calls
}

function callOf(thread: number, call: string, words: string, began: number): TracedCall {
  const seconds = / <([\d.]+)>$/.exec(words)?.[1]
  const paths = [...words.matchAll(/"(\/[^"]*)"|\d+<(\/[^>]*)>/g)].map(
    ([, name, descriptor]) => name ?? descriptor ?? '',
  )
  return {
    thread,
    call,
    path: paths[0] ?? '',
    words,
    began,
    ended: seconds === undefined ? undefined : began + Number(seconds),
    injected: words.includes('(INJECTED)'),
  }
}
