import { type TwoRanges, type TreeJob, treesOfSegment } from '../checkpoints/segment-trees.ts'
import { type JournalFiles, REAL_FILES } from '../journal-files.ts'
import type { ReportProgress } from './progress-meter.ts'
import type { SegmentJob, SegmentResult } from '../segment-result.ts'
import { verifySegment } from '../segment-verifier.ts'
import { SegmentWindow } from '../segment-window.ts'
import { VerifyingThread } from './verifying-thread.ts'

/**
 * Verifies segments, each by itself, in several threads.
 * @param threads number of threads; 0 verifies in the calling thread, which then does nothing else
 * @param files where the files are, when not in the file system; only without threads
 * @returns the results in the order of the jobs
 * @throws the system's error when a file cannot be read
 */
export async function verifySegments(
  jobs: readonly SegmentJob[],
  threads: number,
  reportProgress: ReportProgress,
  files: JournalFiles = REAL_FILES,
): Promise<SegmentResult[]> {
  if (threads === 0)
    return jobs.map((job) => verifySegment(job, reportProgress, new SegmentWindow(job.path, { files })))
  return inThreads(jobs, threads, (thread, job) => thread.segment(job, reportProgress))
}

/** Nodes that segments add to the trees, likewise. @throws the system's error when a file cannot be read */
export async function treesOfSegments(
  jobs: readonly TreeJob[],
  threads: number,
  files: JournalFiles = REAL_FILES,
): Promise<TwoRanges[][]> {
  // One segment takes less time than the start of a thread.
  if (threads === 0 || jobs.length === 1) return jobs.map((job) => treesOfSegment(job, files))
  return inThreads(jobs, threads, (thread, job) => thread.trees(job))
}

async function inThreads<Job, Result>(
  jobs: readonly Job[],
  threads: number,
  run: (thread: VerifyingThread, job: Job) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = []
  const waiting = jobs.map((job, index) => ({ job, index })).toReversed()
  const lanes = Array.from({ length: Math.min(threads, jobs.length) }, async () => {
    const thread = new VerifyingThread()
    try {
      for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
        results[next.index] = await run(thread, next.job)
      }
    } finally {
      // After a failure the other lanes have nothing left to do.
      waiting.length = 0
      await thread.end()
    }
  })
  await Promise.all(lanes)
  return results
}
