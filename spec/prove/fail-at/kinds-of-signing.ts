/** What a store does for checkpoints, kind by kind; and what must hold of them after a life. */
import { auditOf } from '../../support/commands.ts'
import { signingOf, type TestSigning } from '../../support/checkpoint-signing.ts'
import { signedHistory } from '../../support/signed-history.ts'
import type { TestStore } from '../../support/test-store.ts'
import { microsecondsOf } from '../../../engine/brands.ts'
import type { CheckpointState } from '../../../engine/checkpoints/state.ts'
import { CheckpointPublication } from '../../../workers/checkpoints/publish-checkpoints.ts'
import { systemAudit } from '../../../workers/system-audit.ts'
import { nodeDisk } from '../../../engine/disk/node-disk.ts'
import { rebuildProjections } from '../../../projections/replay/rebuild.ts'
import { TreeFiles, treesIn } from '../../../projections/checkpoints/tree-files.ts'
import type { KindOfWork } from './kinds-of-work.ts'
import type { Life } from './life.ts'

const MINUTE = 60_000
const STEPS_MAXIMUM = 100
const FAILURES_MAXIMUM = 3
const CHECKPOINTS_MAXIMUM = 1000
/** More than a tile. */
const RECORDS = 300
const RECEIPT = { kind: 'rfc3161', giver: 'http://127.0.0.1/stamp', receipt: Uint8Array.of(1, 2, 3) } as const

/** Signs what is due; a step that fails is tried again, as the supervisor of the server does. */
async function sign(life: Life, isWithheld = false): Promise<void> {
  await withSigning(life, isWithheld, async ({ worker }) => {
    for (let steps = 0, failures = 0; steps < STEPS_MAXIMUM && failures < FAILURES_MAXIMUM; steps += 1) {
      try {
        if ((await worker.step()) !== 'more') break
      } catch (error) {
        life.told(error)
        failures += 1
      }
    }
  })
}

async function withSigning(
  { client, door, paths, store, ledger }: Life,
  isWithheld: boolean,
  use: (signing: TestSigning) => Promise<void>,
): Promise<void> {
  const { deploymentId } = store
  const options = { disk: door, clock: () => ledger.now, withholds: () => isWithheld }
  const signing = signingOf({ client, paths, deploymentId }, options)
  try {
    await use(signing)
  } finally {
    await signing.close()
  }
}

async function record({ store }: Life): Promise<void> {
  for (let index = 0; index < RECORDS; index += 1) store.client.record(auditOf('s3:GET', 'x'), 'success')
  await store.loop.drained()
}

async function recordAndSign(life: Life, isWithheld = false): Promise<void> {
  await record(life)
  await sign(life, isWithheld)
}

/** Keeps what somebody said about the withheld checkpoint, and publishes it for that. */
async function publish(life: Life): Promise<void> {
  await withSigning(life, true, async ({ reader }) => {
    const { last, withheld } = reader.state()
    if (last === undefined || withheld !== last.size) throw new Error('no checkpoint is withheld')
    const isMet = ({ size }: CheckpointState) => reader.receiptsOf(size).length > 0
    const publication = new CheckpointPublication(life.client, reader, [{ name: 'a receipt', isMet }])
    const receipt = { ...RECEIPT, size: last.size, assertedMicroseconds: microsecondsOf(1000 * life.ledger.now) }
    const audit = systemAudit('checkpoints', 'checkpoint.receipt', last.origin)
    for (let failures = 0; failures < FAILURES_MAXIMUM; failures += 1) {
      try {
        if (!isMet(last)) await life.client.execute({ kind: 'record-receipt', audit, receipt })
        await publication.step()
        break
      } catch (error) {
        life.told(error)
      }
    }
  })
}

export const SIGNING: readonly KindOfWork[] = [
  { name: 'first checkpoint', ready: record, work: (life) => sign(life) },
  {
    name: 'second checkpoint',
    setUp: (life) => recordAndSign(life),
    left: 'killed',
    ready: record,
    later: MINUTE,
    work: (life) => sign(life),
  },
  { name: 'withheld checkpoint', ready: record, work: (life) => sign(life, true) },
  {
    name: 'receipt and publication of a withheld checkpoint',
    setUp: (life) => recordAndSign(life, true),
    left: 'killed',
    ready: async () => undefined,
    work: publish,
  },
  {
    name: 'rebuild of projections with trees',
    setUp: (life) => recordAndSign(life),
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
    // What is withheld waits for nothing any more.
    await new CheckpointPublication(store.client, signing.reader, []).step()
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
