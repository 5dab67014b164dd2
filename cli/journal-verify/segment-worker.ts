/** A verifying thread: takes one segment after another from its parent. */
import { parentPort } from 'node:worker_threads'
import type { SegmentJob, SegmentResult } from './segment-result.ts'
import { verifySegment } from './segment-verifier.ts'

/** What a verifying thread says to its parent. */
export type WorkerMessage =
  | { readonly kind: 'progress'; readonly bytes: number; readonly records: number }
  | { readonly kind: 'result'; readonly result: SegmentResult }

function send(message: WorkerMessage): void {
  parentPort?.postMessage(message)
}

parentPort?.on('message', (job: SegmentJob) => {
  const result = verifySegment(job, (bytes, records) => send({ kind: 'progress', bytes, records }))
  send({ kind: 'result', result })
})
