/** Random bytes of node:crypto from a seed: ids, names and nonces are the same in each run. */
import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import { Random } from '../../support/random.ts'

/** Exchanges the sources of random bytes. @returns puts them back */
export function simulateChance(seed: number): () => void {
  const random = new Random(seed)
  const { randomBytes, randomInt, randomUUID } = crypto
  const bytes = (length: number) => {
    const made = Buffer.alloc(length)
    for (let index = 0; index < length; index += 1) made[index] = random.below(256)
    return made
  }
  Object.assign(crypto, {
    randomBytes: bytes,
    randomInt: (limit: number) => random.below(limit),
    randomUUID: () => {
      const made = bytes(16)
      made[6] = ((made[6] ?? 0) & 0x0f) | 0x40
      made[8] = ((made[8] ?? 0) & 0x3f) | 0x80
      return made.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
    },
  })
  syncBuiltinESMExports()
  return () => {
    Object.assign(crypto, { randomBytes, randomInt, randomUUID })
    syncBuiltinESMExports()
  }
}
