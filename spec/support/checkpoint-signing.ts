/** The worker that signs checkpoints, with the trees grown in the thread of the spec. */
import { millisecondsOf } from '../../engine/brands.ts'
import type { Disk } from '../../engine/disk/disk.ts'
import { nodeDisk } from '../../engine/disk/node-disk.ts'
import { CheckpointKeys } from '../../engine/checkpoints/checkpoint-keys.ts'
import type { SigningKey } from '../../engine/keys/signing-key.ts'
import { CheckpointReader } from '../../projections/checkpoints/reader.ts'
import { ProjectionEnvironment } from '../../projections/lmdb-environment.ts'
import { answerTreeRequest, type OpenTrees, openTrees } from '../../projections/checkpoints/answer-tree-request.ts'
import type { MendReport } from '../../projections/checkpoints/mend-trees.ts'
import { CheckpointLog } from '../../projections/checkpoints/checkpoint-log.ts'
import type { OutsideMemory } from '../../workers/checkpoints/outside-memory.ts'
import { CheckpointSigning } from '../../workers/checkpoints/sign-checkpoints.ts'
import { openTestStore, type TestStore } from './test-store.ts'

/** The keys of the log that signs in specs. */
export const SPEC_CHECKPOINT_KEYS = new CheckpointKeys({
  checkpointSigning: Buffer.alloc(32, 3),
  checkpointGenerations: Buffer.alloc(32, 4),
  earlier: [],
})

export interface TestSigning {
  readonly worker: CheckpointSigning
  readonly reader: CheckpointReader
  readonly log: CheckpointLog
  readonly publicKey: Buffer
  /** Messages about trees that were made again. */
  readonly discarded: string[]
  /** Reports of trees that were compared with the journal. */
  readonly mended: MendReport[]
  /** Messages of rollbacks, and memories that were not asked. */
  readonly rollbacks: string[]
  readonly unasked: string[]
  /** Steps until there is nothing to do for now. */
  settle(): Promise<void>
  close(): Promise<void>
}

interface SigningOptions {
  readonly intervalSeconds?: number
  readonly heartbeatSeconds?: number
  readonly name?: string
  /** Whether checkpoints are published later. */
  readonly withholds?: () => boolean
  readonly key?: SigningKey
  readonly memories?: readonly OutsideMemory[]
  /** Instead of `key`. */
  readonly keys?: CheckpointKeys
  /** Milliseconds since 1970. */
  readonly clock?: () => number
  /** Where the trees are written, and the journal is read. */
  readonly disk?: Disk
}

export function signingOf(
  store: Pick<TestStore, 'client' | 'paths' | 'deploymentId'>,
  {
    intervalSeconds = 60,
    heartbeatSeconds = 3600,
    name = 'spec.log',
    withholds = () => false,
    clock = Date.now,
    disk = nodeDisk,
    memories = [],
    keys = SPEC_CHECKPOINT_KEYS,
    key: keyGiven,
  }: SigningOptions = {},
): TestSigning {
  const { paths, client, deploymentId } = store
  const environment = ProjectionEnvironment.open(paths.projections, { readOnly: true })
  const reader = new CheckpointReader(environment)
  let opened: OpenTrees | undefined
  const discarded: string[] = []
  const mended: MendReport[] = []
  const rollbacks: string[] = []
  const unasked: string[] = []
  const worker = new CheckpointSigning(
    client,
    reader,
    {
      ask: async (request) => {
        opened ??= openTrees(disk, paths)
        return answerTreeRequest(opened, request)
      },
      close: async () => opened?.trees.close(),
    },
    {
      intervalSeconds,
      heartbeatSeconds,
      origin: { name, deploymentId },
      keys: keyGiven === undefined ? keys : { inForce: () => keyGiven },
      clock: () => millisecondsOf(clock()),
      withholds,
      memories,
      onUnasked: (memory) => void unasked.push(memory),
      onRollback: ({ message }) => void rollbacks.push(message),
      onSigned: () => undefined,
      onDiscarded: (reason) => void discarded.push(reason),
      onMended: (report) => void mended.push(report),
    },
  )
  return {
    worker,
    reader,
    log: new CheckpointLog(disk, paths, reader, (size) => worker.mend(size)),
    publicKey: (keyGiven ?? keys.newest(0)).publicKey,
    discarded,
    mended,
    rollbacks,
    unasked,
    settle: async () => {
      while ((await worker.step()) === 'more');
    },
    close: async () => {
      await worker.close()
      await environment.close()
    },
  }
}

/** A store whose clock, and that of its worker, stand still until they are told. */
export async function storeAndWorker(root: string, options: SigningOptions = {}) {
  let now = Date.UTC(2026, 0, 1)
  const store = await openTestStore(root, { clock: () => now * 1000 })
  const signing = signingOf(store, { clock: () => now, ...options })
  return { store, signing, pass: (milliseconds: number) => void (now += milliseconds) }
}
