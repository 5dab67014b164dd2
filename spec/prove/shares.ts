/** A proof of which each thread does a share: for what is long and needs nothing but the processor. */
import { existsSync, mkdtempSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { parentPort, Worker, workerData } from 'node:worker_threads'
import type { ProofTask } from './proof.ts'

/** What one thread does: the `index`-th of `of` shares. */
export interface Share {
  readonly index: number
  readonly of: number
  readonly amount: number
  readonly seed: number
  readonly directory: string
}

/** Numbers that are added up over all shares. */
export type Counts = Readonly<Record<string, number>>

type FromShare = { readonly line: string } | { readonly counts: Counts }

const SHARES_MAXIMUM = 8
const SHARED_MEMORY = '/dev/shm'

/** A directory in memory where there is one. The caller removes it. */
export function scratchDirectory({ directory }: Pick<ProofTask, 'directory'>): string {
  return mkdtempSync(join(existsSync(SHARED_MEMORY) ? SHARED_MEMORY : directory, 'prove-'))
}

/**
 * Has a thread for each core do its share.
 * @param entry module that calls `serveShare`
 * @returns the sum of what they counted
 * @throws the error that ended a share
 */
export async function inShares(
  entry: URL,
  task: Omit<Share, 'index' | 'of'>,
  say: (line: string) => void,
): Promise<Counts> {
  const of = Math.min(SHARES_MAXIMUM, availableParallelism())
  const shares = Array.from({ length: of }, (_, index) => runShare(entry, { ...task, index, of }, say))
  const sum: Record<string, number> = {}
  for (const counts of await Promise.all(shares)) {
    for (const [name, count] of Object.entries(counts)) sum[name] = (sum[name] ?? 0) + count
  }
  return sum
}

function runShare(entry: URL, share: Share, say: (line: string) => void): Promise<Counts> {
  return new Promise((resolve, reject) => {
    const thread = new Worker(entry, { workerData: share })
    let counts: Counts | undefined
    thread.on('message', (message: FromShare) => {
      if ('line' in message) say(message.line)
      else counts = message.counts
    })
    thread.on('error', reject)
    thread.on('exit', () => {
      if (counts === undefined) reject(new Error(`share ${share.index} ended before its end`))
      else resolve(counts)
    })
  })
}

function tell(message: FromShare): void {
  parentPort?.postMessage(message)
}

/** Does the share that the thread was started for. */
export async function serveShare(run: (share: Share, say: (line: string) => void) => Promise<Counts>): Promise<void> {
  tell({ counts: await run(workerData as Share, (line) => tell({ line })) })
}
