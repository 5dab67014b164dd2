import type { CommandOf } from '../../engine/commands/commands.ts'
import type { CopySourceName } from '../../engine/commands/spine-commands.ts'
import type { Done } from '../../engine/commands/done.ts'
import { DomainError } from '../../engine/errors.ts'
import type { Pairs } from '../../engine/events/audit.ts'
import type { RequestJournal } from '../exchange/request-journal.ts'
import type { FoundObject } from './find-object.ts'

/** Target and settings of a copy. */
type CopyTarget = Pick<CommandOf<'copy-object'>, 'bucket' | 'key' | 'replacement' | 'condition' | 'lock' | 'tags'>

/** Maximum lookups of the source when it is replaced before the copy. */
const READS_MAXIMUM = 5

/**
 * Copies the version that `find` finds. The engine refuses the copy if the source was replaced meanwhile; then it is
 * found again, a few times (spec/decisions/0030).
 * @param find finds the source and checks the conditions on it; its exceptions end the copy
 * @param details further metadata of the audit records
 * @returns the copied version, and the result of the engine
 * @throws DomainError when the rules refuse, `source-changed` after the last read; as RequestJournal.execute
 */
export async function copyVersion(
  journal: RequestJournal,
  target: CopyTarget,
  find: () => FoundObject,
  details: (source: FoundObject) => Pairs,
): Promise<{ readonly done: Done; readonly source: FoundObject }> {
  return whileSourceChanges(journal, async () => {
    const source = find()
    const done = await journal.execute({ kind: 'copy-object', ...nameOf(source), ...target }, details(source))
    return { done, source }
  })
}

/** The name by which the engine finds the source of a copy. */
export function nameOf({ bucket, key, object, version }: FoundObject): CopySourceName {
  return {
    sourceBucket: bucket.name,
    sourceKey: key,
    sourceSequence: object.sequence,
    sourceIsVersion: version !== undefined,
  }
}

/**
 * Retries a copy by reference or a rename, a few times, when its source was replaced after it was found.
 * @throws DomainError `source-changed` after the last try; what `attempt` throws
 */
export async function whileSourceChanges<T>(journal: RequestJournal, attempt: () => Promise<T>): Promise<T> {
  for (let reads = 1; ; reads += 1) {
    try {
      return await attempt()
    } catch (error) {
      const isChanged = error instanceof DomainError && error.code === 'source-changed'
      if (!isChanged || reads === READS_MAXIMUM) throw error
    }
    journal.retry()
  }
}
