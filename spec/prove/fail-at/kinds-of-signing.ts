/** What a store does for checkpoints, kind by kind; and what must hold of them after a life. */
import { auditOf } from '../../support/commands.ts'
import { signingOf, type TestSigning } from '../../support/checkpoint-signing.ts'
import { signedHistory } from '../../support/signed-history.ts'
import type { TestStore } from '../../support/test-store.ts'
import { nodeDisk } from '../../../engine/disk/node-disk.ts'
import { rebuildProjections } from '../../../projections/replay/rebuild.ts'
import { TreeFiles, treesIn } from '../../../projections/trees/tree-files.ts'
import type { KindOfWork } from './kinds-of-work.ts'
import type { Life } from './life.ts'

const MINUTE = 60_000
const STEPS_MAXIMUM = 100
const CHECKPOINTS_MAXIMUM = 1000
/** More than a tile. */
const RECORDS = 300

/** Signs what is due; a step that fails is tried again, as the supervisor of the server does. */
async function sign(life: Life): Promise<void> {
  const { client, door, paths, store, ledger } = life
  const { deploymentId } = store
  const signing = signingOf({ client, paths, deploymentId }, { disk: door, clock: () => ledger.now })
  try {
    for (let steps = 0, failures = 0; steps < STEPS_MAXIMUM && failures < 3; steps += 1) {
      try {
        if ((await signing.worker.step()) !== 'more') break
      } catch (error) {
        life.told(error)
        failures += 1
      }
    }
  } finally {
    await signing.close()
  }
}

async function record({ store }: Life): Promise<void> {
  for (let index = 0; index < RECORDS; index += 1) store.client.record(auditOf('s3:GET', 'x'), 'success')
  await store.loop.drained()
}

async function recordAndSign(life: Life): Promise<void> {
  await record(life)
  await sign(life)
}

export const SIGNING: readonly KindOfWork[] = [
  { name: 'first checkpoint', ready: record, work: sign },
  { name: 'second checkpoint', setUp: recordAndSign, left: 'killed', ready: record, later: MINUTE, work: sign },
  {
    name: 'rebuild of projections with trees',
    setUp: recordAndSign,
    work: (life) => rebuildProjections(life.door, life.paths),
  },
]

/** On a healthy disk: the store goes on signing, and what it signed before is as it was. */
export async function finishSigning(store: TestStore, now: number, wrong: string[]): Promise<void> {
  const { paths } = store
  wrong.push(...signedHistory(paths.root).faults)
  if (!TreeFiles.exist(nodeDisk, treesIn(paths.projections)) && signedHistory(paths.root).signed.length === 0) return
  const signing = signingOf(store, { clock: () => now + MINUTE })
  try {
    await signing.settle()
    wrong.push(...signedHistory(paths.root).faults, ...unproved(signing))
  } catch (error) {
    wrong.push(`it does not sign any more: ${String(error)}`)
  } finally {
    await signing.close()
  }
}

/** Every checkpoint and every record is proved; a proof that does not hold is an error of the log. */
function unproved({ log }: TestSigning): string[] {
  const [first, ...rest] = log.after(-1, CHECKPOINTS_MAXIMUM)
  if (first === undefined) return ['nothing was signed']
  for (const { size } of rest) log.consistency(first.size, size)
  for (let sequence = 0; sequence < log.last().size; sequence += 1) log.inclusion(sequence, undefined)
  return []
}
