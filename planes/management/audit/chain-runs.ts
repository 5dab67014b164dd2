import { type Milliseconds, sequenceOf } from '../../../engine/brands.ts'
import { segmentName } from '../../../engine/disk/store-paths.ts'
import type { ChainVerdict, ChainVerdicts } from '../../../engine/journal/chain-verdicts.ts'
import type { ChainReport } from '../../../projections/audit/audit-log.ts'
import type { ManagementIdentity } from '../access/authenticate.ts'

/** Callers whose verification is followed at a time. */
const RUNS_MAXIMUM = 64

/** A verification over several requests. */
interface Run {
  readonly from: number
  readonly next: number
  readonly problem: ChainVerdict['problem']
}

type Caller = Pick<ManagementIdentity, 'role' | 'credentialId'>

/**
 * Puts the spans that a caller has verified, each from the `next_from` of the one before, together to one verdict. It is kept when
 * it has reached the end of the log; damage at once.
 */
export class ChainRuns {
  readonly #verdicts: Pick<ChainVerdicts, 'keep'>
  readonly #clock: () => Milliseconds
  readonly #failed: (error: unknown) => void
  /** By caller; the last caller to ask is at the end. */
  readonly #runs = new Map<string, Run>()

  /** @param failed called when a verdict could not be kept: the answer does not depend on it */
  constructor(verdicts: Pick<ChainVerdicts, 'keep'>, clock: () => Milliseconds, failed: (error: unknown) => void) {
    this.#verdicts = verdicts
    this.#clock = clock
    this.#failed = failed
  }

  verified({ role, credentialId }: Caller, report: ChainReport): void {
    const by = `management:${role} ${credentialId}`
    const before = this.#runs.get(by)
    const isNext = before?.next === report.from
    const from = isNext ? before.from : report.from
    const problem = (isNext ? before.problem : undefined) ?? problemOf(report)
    this.#runs.delete(by)
    if (report.nextFrom !== undefined) this.#follow(by, { from, next: report.nextFrom, problem })
    if (report.nextFrom !== undefined && report.problems.length === 0) return
    const isEnd = report.nextFrom === undefined
    const through = isEnd ? report.headSequence : report.nextFrom - 1
    const headHash = isEnd ? report.headHash : undefined
    const verdict = {
      from,
      through,
      headHash,
      atMilliseconds: this.#clock(),
      by,
      program: 'audit chain',
      problem,
    } as const
    try {
      this.#verdicts.keep(verdict, report.headSequence)
    } catch (error) {
      this.#failed(error)
    }
  }

  #follow(by: string, run: Run): void {
    this.#runs.set(by, run)
    const [oldest] = this.#runs.keys()
    if (this.#runs.size > RUNS_MAXIMUM && oldest !== undefined) this.#runs.delete(oldest)
  }
}

function problemOf({ problems: [first] }: ChainReport): ChainVerdict['problem'] {
  if (first === undefined) return undefined
  const { sequence, verdict, place, detail } = first
  return {
    sequence,
    segment: segmentName(sequenceOf(place.segmentFirstSequence)),
    offset: place.offset,
    verdict,
    detail,
  }
}
