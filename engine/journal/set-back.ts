import { decodeChanges } from '../events/entry-codec.ts'

/**
 * Whether the body of a change record sets the order time back between these times, in microseconds, and does nothing
 * else. No other record may have an order time before the last.
 */
export function setsBack(body: Uint8Array, from: number, to: number): boolean {
  try {
    const changes = decodeChanges(body)
    const [change] = changes
    return changes.length === 1 && change?.name === 'clock.set-back' && change.from === from && change.to === to
  } catch {
    return false
  }
}
