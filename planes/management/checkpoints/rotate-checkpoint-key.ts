import { DomainError } from '../../../engine/errors.ts'
import type { CheckpointKeys } from '../../../engine/checkpoints/checkpoint-keys.ts'
import { handoverNote } from '../../../engine/checkpoints/key-handover.ts'
import { verifierKeyText } from '../../../engine/checkpoints/checkpoint-note.ts'
import type { RequestJournal } from '../../exchange/request-journal.ts'
import { ADMINISTRATOR, defineRoute, json } from '../routing/define-route.ts'
import { jsonResponse } from '../responses.ts'
import { command } from '../routing/route-command.ts'
import { object, text, whole } from '../schemas/schema.ts'
import { asked } from './checkpoint-parts.ts'

type Handover = ReturnType<CheckpointKeys['handOver']>

/**
 * A hand-over names the last checkpoint. When a new checkpoint overtakes it, another hand-over is made for that one.
 */
const TRIES_MAXIMUM = 10

/** @throws DomainError, `checkpoint-handover-refused` only when a checkpoint overtook every try */
async function handOver(journal: RequestJournal, make: () => Handover): Promise<Handover> {
  for (let tries = 1; ; tries += 1) {
    const handover = make()
    try {
      await journal.execute({ kind: 'rotate-checkpoint-key', handover }, ['generation', handover.generation])
      return handover
    } catch (error) {
      const isOvertaken = error instanceof DomainError && error.code === 'checkpoint-handover-refused'
      if (!isOvertaken || tries === TRIES_MAXIMUM) throw error
      journal.retry()
    }
  }
}

/** Rotates the key of the log (`spec/decisions/0147-checkpoints.md`). */
export const rotateCheckpointKey = defineRoute({
  pattern: 'POST /transparency/key/rotate',
  roles: ADMINISTRATOR,
  summary: 'Hands the key of the log over to a new one, which signs from the next checkpoint on.',
  answer: {
    200: json(
      object({
        origin: text(),
        generation: whole({ minimum: 1 }),
        size: whole({ minimum: 1 }),
        old_key: text(),
        new_key: text(),
        note: text(),
      }),
    ),
  },
  errors: ['CHECKPOINT_NOT_FOUND', 'CHECKPOINT_KEY_KEPT', 'CONFLICT'],
  async handle(request, { checkpoints, checkpointKeys }) {
    const handover = await handOver(request.journal, () =>
      checkpointKeys.handOver(asked(() => checkpoints.handingOver())),
    )
    const { origin, generation, size, oldKey, newKey } = handover
    return jsonResponse(200, {
      origin,
      generation,
      size,
      old_key: verifierKeyText(origin, oldKey),
      new_key: verifierKeyText(origin, newKey),
      note: handoverNote(handover),
    })
  },
  command: command('checkpoint rotate-key', 'hand the key of the log over to a new one'),
})
