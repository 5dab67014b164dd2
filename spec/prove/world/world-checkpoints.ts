/** The workers of checkpoints of a process of the world, as the server has them (cli/checkpoints/start.ts). */
import { systemMilliseconds } from '../../../engine/clock.ts'
import { CheckpointKeys } from '../../../engine/checkpoints/checkpoint-keys.ts'
import type { EngineClient } from '../../../engine/client/engine-client.ts'
import { readWitnessPolicy } from '../../../engine/checkpoints/witness-policy.ts'
import { answerTreeRequest, type OpenTrees, openTrees } from '../../../projections/checkpoints/answer-tree-request.ts'
import { CheckpointLog } from '../../../projections/checkpoints/checkpoint-log.ts'
import { CheckpointPublication, timeStampRequirement } from '../../../workers/checkpoints/publish-checkpoints.ts'
import { CheckpointSigning } from '../../../workers/checkpoints/sign-checkpoints.ts'
import { CheckpointTimeStamps } from '../../../workers/checkpoints/time-stamp-checkpoints.ts'
import { CheckpointWitnesses } from '../../../workers/checkpoints/witness-checkpoints.ts'
import type { BackgroundWorker } from '../../../workers/worker.ts'
import type { ManagedServer } from '../../support/management-server.ts'
import { AUTHORITY, type OutsideParties, WITNESS } from './outside-parties.ts'

/** A checkpoint is due when the clock has moved at all since the one before. */
const INTERVAL_SECONDS = 0.001
const HEARTBEAT_SECONDS = 3600
const TIMEOUT_MILLISECONDS = 2000
const NAME = 'world.log'

const clock = systemMilliseconds
const timer = () => performance.now()

/** What is published only with the receipts that this start asks for. */
export type Required = 'nothing' | 'a time stamp' | 'a witness'

/** @param wrong is told of another history and of damage, neither of which anything in a world makes */
export function checkpointWorkers(
  engine: EngineClient,
  { session, paths, ground, store, keys }: ManagedServer,
  outside: OutsideParties,
  required: Required,
  wrong: (what: string) => void,
): BackgroundWorker[] {
  const { disk } = ground
  const reader = session.checkpoints
  const origin = { name: NAME, deploymentId: store.deploymentId }
  const policy = readWitnessPolicy(Buffer.from(`witness outside ${outside.witness.vkey} ${WITNESS}\nquorum outside\n`))
  const checkpointKeys = new CheckpointKeys(keys)
  const inForce = () => checkpointKeys.inForce(reader.state())
  const published = new CheckpointLog(disk, paths, reader, (size, what) => {
    if (what !== undefined) wrong(`the trees of the checkpoint of ${size} records are damaged: ${what}`)
  })
  const send: OutsideParties['post'] = (...request) => {
    outside.publicKey = inForce().publicKey
    return outside.post(...request)
  }
  const contradicted = (by: string) => wrong(`${by} has seen another history`)
  const witnesses = new CheckpointWitnesses(engine, reader, policy, {
    isRequired: required === 'a witness',
    key: inForce,
    timeoutMilliseconds: TIMEOUT_MILLISECONDS,
    send,
    clock,
    timer,
    consistencyOf: (checkpoint, old) => published.consistencyOf(checkpoint, old),
    onFailure: () => undefined,
    onContradiction: contradicted,
  })
  const requirements = {
    nothing: [],
    'a time stamp': [timeStampRequirement(reader)],
    'a witness': [witnesses.requirement],
  }
  const publication = new CheckpointPublication(engine, reader, requirements[required])
  let trees: OpenTrees | undefined
  const thread = {
    ask: async (request: Parameters<typeof answerTreeRequest>[1]) => {
      trees ??= openTrees(disk, paths)
      return answerTreeRequest(trees, request)
    },
    close: async () => trees?.trees.close(),
  }
  const signing = new CheckpointSigning(engine, reader, thread, {
    intervalSeconds: INTERVAL_SECONDS,
    heartbeatSeconds: HEARTBEAT_SECONDS,
    origin,
    keys: checkpointKeys,
    clock,
    withholds: publication.withholds,
    memories: witnesses.memories,
    onUnasked: () => undefined,
    onRollback: ({ message }) => wrong(message),
    onSigned: () => undefined,
    onDiscarded: () => undefined,
    onMended: () => undefined,
  })
  const timeStamps = new CheckpointTimeStamps(engine, reader, {
    mode: required === 'a time stamp' ? 'required' : 'best-effort',
    url: AUTHORITY,
    othersVouch: true,
    timeoutMilliseconds: TIMEOUT_MILLISECONDS,
    send,
    clock,
    timer,
    onFailure: () => undefined,
  })
  return [signing, publication, timeStamps, witnesses]
}
