import type { EngineClient } from '../../engine/client/engine-client.ts'
import type { CheckpointState } from '../../engine/checkpoints/state.ts'
import type { CheckpointReader } from '../../projections/checkpoints/reader.ts'
import { systemAudit } from '../system-audit.ts'
import type { BackgroundWorker, StepResult } from '../worker.ts'

/** A requirement of a checkpoint before it is shown. */
export interface PublicationRequirement {
  /** For the status, for example "a time stamp". */
  readonly name: string
  isMet(checkpoint: CheckpointState): boolean
}

/**
 * Publishes a withheld checkpoint when every requirement of this start's configuration is met; requirements of earlier
 * starts do not count.
 */
export class CheckpointPublication implements BackgroundWorker {
  readonly name = 'checkpoint-publication'
  readonly #engine: Pick<EngineClient, 'execute'>
  readonly #reader: Pick<CheckpointReader, 'state'>
  readonly #requirements: readonly PublicationRequirement[]

  constructor(
    engine: Pick<EngineClient, 'execute'>,
    reader: Pick<CheckpointReader, 'state'>,
    requirements: readonly PublicationRequirement[],
  ) {
    this.#engine = engine
    this.#reader = reader
    this.#requirements = requirements
  }

  get status(): string {
    const last = this.#withheld()
    if (last === undefined) return 'no checkpoint is withheld'
    return `the checkpoint of ${last.size} records waits for ${this.#unmet(last).join(' and ') || 'its publication'}`
  }

  /** Names of the requirements that the withheld checkpoint does not meet; empty where none is withheld. */
  get waitsFor(): readonly string[] {
    const last = this.#withheld()
    return last === undefined ? [] : this.#unmet(last)
  }

  /** Whether a new checkpoint is signed as withheld. */
  readonly withholds = (): boolean => this.#requirements.length > 0

  async step(): Promise<StepResult> {
    const last = this.#withheld()
    if (last === undefined || this.#unmet(last).length > 0) return 'idle'
    const audit = systemAudit('checkpoints', 'checkpoint.publish', last.origin)
    await this.#engine.execute({ kind: 'publish-checkpoint', audit, size: last.size })
    return 'idle'
  }

  #unmet(checkpoint: CheckpointState): string[] {
    return this.#requirements.filter((requirement) => !requirement.isMet(checkpoint)).map(({ name }) => name)
  }

  /** Only the last checkpoint can be withheld: while it is, no other is signed. */
  #withheld(): CheckpointState | undefined {
    const { last, withheld } = this.#reader.state()
    return last?.size === withheld ? last : undefined
  }
}

/** That an authority has stamped the checkpoint. */
export function timeStampRequirement(reader: Pick<CheckpointReader, 'receiptsOf'>): PublicationRequirement {
  return {
    name: 'a time stamp',
    isMet: ({ size }) => reader.receiptsOf(size).some(({ kind }) => kind === 'rfc3161'),
  }
}
