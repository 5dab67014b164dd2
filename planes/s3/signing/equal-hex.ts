import { timingSafeEqual } from 'node:crypto'

const SIGNATURE_HEX = /^[0-9a-f]{64}$/

/** Reused buffers: allocating them for each signature costs more than the comparison. */
const compared = [Buffer.alloc(64), Buffer.alloc(64)] as const

/** Compares digests in constant time. False if `hex` is not 64 lower-case hex digits. */
export function equalsHex(expected: string, hex: string): boolean {
  if (!SIGNATURE_HEX.test(hex)) return false
  compared[0].write(expected, 'latin1')
  compared[1].write(hex, 'latin1')
  return timingSafeEqual(compared[0], compared[1])
}
