import { Worker } from 'node:worker_threads'
import type { ReportProgress } from './progress-meter.ts'
import type { SegmentJob, SegmentResult } from './segment-result.ts'
import { verifySegment } from './segment-verifier.ts'
import type { WorkerMessage } from './segment-worker.ts'

/**
 * Verifies segments, each on its own, spread over threads.
 * @param threads number of threads; 0 verifies in the calling thread, which then does nothing else
 * @returns the results in the order of the jobs
 * @throws the system's error when a file cannot be read
 */
export async function verifySegments(
  jobs: readonly SegmentJob[],
  threads: number,
  reportProgress: ReportProgress,
): Promise<SegmentResult[]> {
  if (threads === 0) return jobs.map((job) => verifySegment(job, reportProgress))
  const results: SegmentResult[] = []
  const waiting = jobs.map((job, index) => ({ job, index })).toReversed()
  const lanes = Array.from({ length: Math.min(threads, jobs.length) }, async () => {
    const worker = new Worker(new URL('./segment-worker.js', import.meta.url))
    try {
      for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
        results[next.index] = await verifyInWorker(worker, next.job, reportProgress)
      }
    } finally {
      // A lane that fails leaves the others nothing to do.
      waiting.length = 0
      await worker.terminate()
    }
  })
  await Promise.all(lanes)
  return results
}

function verifyInWorker(worker: Worker, job: SegmentJob, reportProgress: ReportProgress): Promise<SegmentResult> {
  return new Promise((resolve, reject) => {
    const finish = (): void => {
      worker.off('message', receive)
      worker.off('error', fail)
    }
    const fail = (error: Error): void => {
      finish()
      reject(error)
    }
    const receive = (message: WorkerMessage): void => {
      if (message.kind === 'progress') return reportProgress(message.bytes, message.records)
      finish()
      resolve(message.result)
    }
    worker.on('message', receive)
    worker.on('error', fail)
    worker.postMessage(job)
  })
}
