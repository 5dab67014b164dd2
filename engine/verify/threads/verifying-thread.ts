import { Worker } from 'node:worker_threads'
import type { TwoRanges, TreeJob } from '../checkpoints/segment-trees.ts'
import type { ReportProgress } from './progress-meter.ts'
import type { SegmentJob, SegmentResult } from '../segment-result.ts'
import type { SpanJob, SpanResult } from '../span/span-report.ts'
import type { WorkerJob, WorkerMessage } from './verifying-worker.ts'

/** A thread that verifies, one job at a time. A job that fails, as when a file cannot be read, ends the thread. */
export class VerifyingThread {
  readonly #worker = new Worker(new URL('./verifying-worker.js', import.meta.url))

  /** @throws the system's error when the file cannot be read */
  segment(job: SegmentJob, reportProgress: ReportProgress): Promise<SegmentResult> {
    return this.#run({ kind: 'segment', job }, reportProgress) as Promise<SegmentResult>
  }

  /** @throws the system's error when a file cannot be read */
  span(job: SpanJob): Promise<SpanResult> {
    return this.#run({ kind: 'span', job }, () => undefined) as Promise<SpanResult>
  }

  /** @throws the system's error when the file cannot be read */
  trees(job: TreeJob): Promise<TwoRanges[]> {
    return this.#run({ kind: 'trees', job }, () => undefined) as Promise<TwoRanges[]>
  }

  /** Whether the thread keeps the process alive; it does by default. */
  keepProcess(kept: boolean): void {
    if (kept) this.#worker.ref()
    else this.#worker.unref()
  }

  async end(): Promise<void> {
    await this.#worker.terminate()
  }

  #run(job: WorkerJob, reportProgress: ReportProgress): Promise<SegmentResult | SpanResult | TwoRanges[]> {
    return new Promise((resolve, reject) => {
      const finish = (): void => {
        this.#worker.off('message', receive)
        this.#worker.off('error', fail)
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
      this.#worker.on('message', receive)
      this.#worker.on('error', fail)
      this.#worker.postMessage(job)
    })
  }
}
