import type { SpineChange } from '../events/spine-changes.ts'
import { NOTHING_CHANGES, type Rules } from './decision.ts'

export const payloadRules = {
  /**
   * Gives payloads new places in the current volume. A payload that was released or moved meanwhile is left alone: the
   * bytes that were read no longer belong to it.
   */
  'move-payloads'({ moves }, { state, placement }) {
    const changes: SpineChange[] = []
    for (const { payload, volume, offset, bytes, checksum } of moves) {
      const present = state.payload(payload)
      if (present?.kind !== 'volume' || present.volume !== volume || present.offset !== offset) continue
      const place = placement.place(payload, bytes, checksum, present.sealed)
      if (place.kind !== 'volume') throw new Error('small payloads are placed in volumes')
      changes.push({ name: 'payload.moved', payload, volume: place.volume, offset: place.offset })
    }
    return { changes }
  },

  /** Does nothing for a digest that is known, or a payload that is gone. */
  'record-digest'({ payload, digest }, { state }) {
    const present = state.payload(payload)
    if (present?.kind !== 'parts' || present.digest !== undefined) return NOTHING_CHANGES
    return { changes: [{ name: 'payload.digested', payload, digest }] }
  },

  /** A number is never reused, so no reader takes a new volume for the old one. */
  'remove-volume'({ volume }, { state }) {
    return state.volumeIsSpent(volume) ? { changes: [{ name: 'volume.removed', volume }] } : NOTHING_CHANGES
  },
} satisfies Partial<Rules>
