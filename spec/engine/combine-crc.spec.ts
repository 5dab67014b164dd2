/** CRCs of pieces that are combined, against the CRC of the whole. */
import * as fc from 'fast-check'
import { test } from 'tap'
import { CombinedCrc, isCombinable } from '../../engine/hashing/combine-crc.ts'
import { startChecksum } from '../../planes/s3/request/checksums.ts'
import { sampleBytes } from '../support/sample-bytes.ts'

const ALGORITHMS = ['crc32', 'crc32c', 'crc64nvme'] as const

function whole(algorithm: (typeof ALGORITHMS)[number], pieces: readonly Uint8Array[]): string {
  const running = startChecksum(algorithm)
  for (const piece of pieces) running.update(piece)
  return running.digest().toString('hex')
}

function combined(algorithm: (typeof ALGORITHMS)[number], pieces: readonly Uint8Array[]): string {
  const crc = new CombinedCrc(algorithm)
  for (const piece of pieces) crc.add(Buffer.from(whole(algorithm, [piece]), 'hex'), piece.length)
  return crc.digest().toString('hex')
}

test('combined from any pieces it is the CRC of all of them', async (t) => {
  const pieces = fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 12 })
  for (const algorithm of ALGORITHMS) {
    fc.assert(
      fc.property(pieces, (all) => combined(algorithm, all) === whole(algorithm, all)),
      { numRuns: 500 },
    )
    const large = [5_000_000, 1, 0, 65_536, 5_000_000, 3].map((size, seed) => sampleBytes(size, seed))
    t.equal(combined(algorithm, large), whole(algorithm, large), algorithm)
    t.equal(combined(algorithm, []), whole(algorithm, []), `${algorithm} of nothing`)
  }
})

test('it is that of the published check values', async (t) => {
  const [one, two] = [Buffer.from('1234'), Buffer.from('56789')]
  t.equal(combined('crc32', [one, two]), 'cbf43926')
  t.equal(combined('crc32c', [one, two]), 'e3069283')
  t.equal(combined('crc64nvme', [one, two]), 'ae8b14860a799888')
})

test('a piece of terabytes is the same as its halves: powers of x are right for every length', async (t) => {
  const [head, tail] = [Buffer.alloc(8, 0x5a), Buffer.alloc(8, 0xa5)]
  for (const algorithm of ALGORITHMS) {
    const width = algorithm === 'crc64nvme' ? 8 : 4
    for (const bytes of [2 ** 31, 2 ** 32 + 1, 5 * 1024 ** 4]) {
      const at = new CombinedCrc(algorithm)
      at.add(head.subarray(0, width), 8)
      at.add(tail.subarray(0, width), bytes)
      // The tail is a CRC of its own; with zeros for the second half only the shift of the head is split.
      const split = new CombinedCrc(algorithm)
      split.add(head.subarray(0, width), 8)
      split.add(Buffer.alloc(width), Math.floor(bytes / 3))
      split.add(tail.subarray(0, width), bytes - Math.floor(bytes / 3))
      t.equal(at.digest().toString('hex'), split.digest().toString('hex'), `${algorithm} ${bytes}`)
    }
  }
})

test('sums that are no CRC do not combine', async (t) => {
  t.same(['crc32', 'crc32c', 'crc64nvme', 'sha1', 'sha256', 'toString'].filter(isCombinable), ALGORITHMS)
})
