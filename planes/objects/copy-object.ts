import type { CommandOf, Done } from '../../engine/commands/commands.ts'
import { DomainError } from '../../engine/errors.ts'
import type { Pairs } from '../../engine/events/audit.ts'
import type { RequestJournal } from '../exchange/request-journal.ts'
import type { FoundObject } from './find-object.ts'

/** What a copy is to be. */
type CopyTarget = Pick<CommandOf<'copy-object'>, 'bucket' | 'key' | 'replacement' | 'condition' | 'lock'>

/** How often the source is read, when it is replaced between that and the copy. */
const READS_MAXIMUM = 5

/**
 * Copies the version that `find` finds. The engine refuses when another one is there by then; the source is found again,
 * a few times (spec/decisions/0030).
 * @param find finds the source and judges the conditions on it; what it throws ends the copy
 * @param details further metadata of the audit records
 * @returns the version that was copied, beside what the engine did
 * @throws DomainError when the rules refuse, `source-changed` after the last read; as RequestJournal.execute
 */
export async function copyVersion(
  journal: RequestJournal,
  target: CopyTarget,
  find: () => FoundObject,
  details: (source: FoundObject) => Pairs,
): Promise<{ readonly done: Done; readonly source: FoundObject }> {
  for (let reads = 1; ; reads += 1) {
    const source = find()
    try {
      const done = await journal.execute(
        {
          kind: 'copy-object',
          sourceBucket: source.bucket.name,
          sourceKey: source.key,
          sourceSequence: source.object.sequence,
          sourceIsVersion: source.version !== undefined,
          ...target,
        },
        details(source),
      )
      return { done, source }
    } catch (error) {
      const isChanged = error instanceof DomainError && error.code === 'source-changed'
      if (!isChanged || reads === READS_MAXIMUM) throw error
    }
    journal.retry()
  }
}
