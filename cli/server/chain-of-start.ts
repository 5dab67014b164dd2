import { systemMilliseconds } from '../../engine/clock.ts'
import { nodeDisk } from '../../engine/disk/node-disk.ts'
import { segmentName, type StorePaths } from '../../engine/disk/store-paths.ts'
import { type ChainVerdict, ChainVerdicts, type VerdictProblem } from '../../engine/journal/chain-verdicts.ts'
import type { AcknowledgedDataLostError, JournalDamagedError } from '../../engine/journal/journal-errors.ts'
import type { Logger } from './log/logger.ts'
import { type EngineThread, EngineThreadError } from './threads/engine-thread-handle.ts'

/** Verdicts by the errors that end a start. */
const VERDICTS: Readonly<Record<(JournalDamagedError | AcknowledgedDataLostError)['name'], VerdictProblem['verdict']>> =
  { JournalDamagedError: 'the journal is damaged', AcknowledgedDataLostError: 'acknowledged entries lost' }

type Verified = Pick<ChainVerdict, 'from' | 'through' | 'headHash' | 'problem'>

/** Keeps what a start has verified of the chain. A start does not depend on it. */
export function keepStart(paths: StorePaths, log: Logger, { deploymentId, report }: EngineThread): void {
  if (report.verified !== undefined)
    keep(paths, log, deploymentId, { ...report.verified, problem: problemOf(report.gaps) })
}

/** The first damaged segment that the start went on without. */
function problemOf([gap]: EngineThread['report']['gaps']): VerdictProblem | undefined {
  if (gap === undefined) return undefined
  const { first, fault: detail } = gap
  return {
    sequence: first,
    segment: segmentName(first),
    offset: undefined,
    verdict: VERDICTS.JournalDamagedError,
    detail,
  }
}

/** Keeps the damage that ended a start. */
export function keepRefusedStart(paths: StorePaths, log: Logger, error: unknown): void {
  const name = error instanceof EngineThreadError ? error.errorName : ''
  if (!Object.hasOwn(VERDICTS, name)) return
  const verdict = VERDICTS[name as keyof typeof VERDICTS]
  const detail = (error as EngineThreadError).message
  const problem = { sequence: undefined, segment: undefined, offset: undefined, verdict, detail }
  keep(paths, log, undefined, { from: 0, through: undefined, headHash: undefined, problem })
}

function keep(paths: StorePaths, log: Logger, deploymentId: string | undefined, verified: Verified): void {
  const verdict = {
    ...verified,
    atMilliseconds: systemMilliseconds(),
    by: 'system:server',
    program: 'server start',
  } as const
  try {
    const verdicts = new ChainVerdicts(nodeDisk, paths, deploymentId)
    const { ignored } = verdicts.read(verified.through)
    if (ignored !== undefined) {
      log.warn({ file: paths.verified, reason: ignored }, 'the kept verdicts on the chain are ignored')
    }
    verdicts.keep(verdict, verified.through)
  } catch (error) {
    log.warn({ err: error }, 'the verdict of this start on the chain could not be kept')
  }
}
