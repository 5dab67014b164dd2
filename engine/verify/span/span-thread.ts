import type { SpanJob, SpanResult } from './span-report.ts'
import { VerifyingThread } from '../threads/verifying-thread.ts'

/** How long the thread waits for the next span: longer than the pause of a client that follows the chain. */
const IDLE_MILLISECONDS = 2000

let thread: VerifyingThread | undefined
let idle: NodeJS.Timeout | undefined
let spansWaiting = 0
let turn: Promise<unknown> = Promise.resolve()

/**
 * Verifies a span in a thread that all callers of the process share, one span after the other, so that neither the
 * loop of the caller waits nor memory grows with the number of callers. The thread ends when nothing is asked for.
 * @throws the system's error when a file cannot be read
 */
export function verifySpanAside(job: SpanJob): Promise<SpanResult> {
  clearTimeout(idle)
  spansWaiting += 1
  const result = turn.then(() => verifyNext(job))
  turn = result.catch(() => undefined)
  return result
}

async function verifyNext(job: SpanJob): Promise<SpanResult> {
  thread ??= new VerifyingThread()
  thread.keepProcess(true)
  try {
    return await thread.span(job)
  } catch (error) {
    thread = undefined
    throw error
  } finally {
    spansWaiting -= 1
    thread?.keepProcess(false)
    if (spansWaiting === 0) idle = setTimeout(endThread, IDLE_MILLISECONDS).unref()
  }
}

function endThread(): void {
  void thread?.end()
  thread = undefined
}
