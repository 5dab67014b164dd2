/** How slow this machine is just now: limits of time are for a machine that has nothing else to do. */
import { scryptSync } from 'node:crypto'

/** Of one hash on the machine whose limits the crowds have. */
const HASH_MILLISECONDS = 90
const HASHES = 3
const HASH_OPTIONS = { cost: 32_768, blockSize: 8, parallelization: 1, maxmem: 64 * 1024 ** 2 }

/** By so many times a hash takes longer here than there; at least 1. Takes HASHES hashes of one processor. */
export function slowness(): number {
  const times = Array.from({ length: HASHES }, () => {
    const beganAt = performance.now()
    scryptSync('password', 'salt', 32, HASH_OPTIONS)
    return performance.now() - beganAt
  })
  const middle = times.toSorted((left, right) => left - right)[(HASHES - 1) / 2] as number
  return Math.max(1, middle / HASH_MILLISECONDS)
}
