/** A verifying thread: takes one segment or span after another from its parent. */
import { parentPort } from 'node:worker_threads'
import { type TwoRanges, type TreeJob, treesOfSegment } from '../checkpoints/segment-trees.ts'
import type { SegmentJob, SegmentResult } from '../segment-result.ts'
import { verifySegment } from '../segment-verifier.ts'
import type { SpanJob, SpanResult } from '../span/span-report.ts'
import { verifySpan } from '../span/span-verifier.ts'

/** Jobs of a verifying thread. */
export type WorkerJob =
  | { readonly kind: 'segment'; readonly job: SegmentJob }
  | { readonly kind: 'span'; readonly job: SpanJob }
  | { readonly kind: 'trees'; readonly job: TreeJob }

/** Messages of a verifying thread to its parent. */
export type WorkerMessage =
  | { readonly kind: 'progress'; readonly bytes: number; readonly records: number }
  | { readonly kind: 'segment'; readonly result: SegmentResult }
  | { readonly kind: 'span'; readonly result: SpanResult }
  | { readonly kind: 'trees'; readonly result: TwoRanges[] }

function send(message: WorkerMessage): void {
  parentPort?.postMessage(message)
}

parentPort?.on('message', ({ kind, job }: WorkerJob) => {
  if (kind === 'span') send({ kind, result: verifySpan(job) })
  else if (kind === 'trees') send({ kind, result: treesOfSegment(job) })
  else {
    const result = verifySegment(job, (bytes, records) => send({ kind: 'progress', bytes, records }))
    send({ kind, result })
  }
})
