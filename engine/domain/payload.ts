import type { MovePayloads, RecordDigest, RemoveVolume } from '../commands.ts'
import type { Change } from '../events/changes.ts'
import { type Decision, type DecisionContext, NOTHING_CHANGES } from './decision.ts'

/**
 * Gives payloads new places in the current volume. One that was released or moved meanwhile is left alone: the bytes
 * that were read are not its any more.
 */
export function decideMovePayloads({ moves }: MovePayloads, { state, placement }: DecisionContext): Decision {
  const changes: Change[] = []
  for (const { payload, volume, offset, bytes, checksum } of moves) {
    const present = state.payload(payload)
    if (present?.kind !== 'volume' || present.volume !== volume || present.offset !== offset) continue
    const place = placement.place(payload, bytes, checksum, present.sealed)
    if (place.kind !== 'volume') throw new Error('small payloads are placed in volumes')
    changes.push({ name: 'payload.moved', payload, volume: place.volume, offset: place.offset })
  }
  return { changes }
}

/** Once is enough, and a payload that is gone needs none. */
export function decideRecordDigest({ payload, digest }: RecordDigest, { state }: DecisionContext): Decision {
  const present = state.payload(payload)
  if (present?.kind !== 'parts' || present.digest !== undefined) return NOTHING_CHANGES
  return { changes: [{ name: 'payload.digested', payload, digest }] }
}

/** A number is never used again, so that no reader takes a new volume for the old one. */
export function decideRemoveVolume({ volume }: RemoveVolume, { state }: DecisionContext): Decision {
  return state.volumeIsSpent(volume) ? { changes: [{ name: 'volume.removed', volume }] } : NOTHING_CHANGES
}
