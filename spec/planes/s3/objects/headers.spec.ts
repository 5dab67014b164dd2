import { randomBytes } from 'node:crypto'
import * as fc from 'fast-check'
import { test } from 'tap'
import type { ChecksumAlgorithm } from '../../../../engine/events/values.ts'
import { startChecksum } from '../../../../planes/s3/request/checksums.ts'
import { crc32c } from '../../../../engine/hashing/crc32.ts'

/** Checksums of the text `123456789`, as the catalogues of CRC algorithms and the hash standards give them. */
const KNOWN: Readonly<Record<ChecksumAlgorithm, string>> = {
  crc32: 'cbf43926',
  crc32c: 'e3069283',
  crc64nvme: 'ae8b14860a799888',
  sha1: 'f7c3bc1d808e04732adf679965ccc34ca7ae3441',
  sha256: '15e2b0d3c33891ebb0f1ef609ec419420c20e320ce94c65fbc8c3312448eb225',
}

const ALGORITHMS = Object.keys(KNOWN) as ChecksumAlgorithm[]

test('checksums of known texts, whole and in pieces', async (t) => {
  const text = Buffer.from('123456789')
  const bytes = randomBytes(1000)
  for (const algorithm of ALGORITHMS) {
    const whole = startChecksum(algorithm)
    whole.update(text)
    t.equal(whole.digest().toString('hex'), KNOWN[algorithm], algorithm)
    const empty = startChecksum(algorithm).digest()
    if (algorithm.startsWith('crc')) t.match(empty.toString('hex'), /^0+$/)
    const once = startChecksum(algorithm)
    once.update(bytes)
    const expected = once.digest()
    fc.assert(
      fc.property(fc.nat(1000), fc.nat(1000), (a, b) => {
        const pieces = startChecksum(algorithm)
        for (const piece of [bytes.subarray(0, Math.min(a, b)), bytes.subarray(Math.min(a, b), Math.max(a, b))])
          pieces.update(piece)
        pieces.update(bytes.subarray(Math.max(a, b)))
        return pieces.digest().equals(expected)
      }),
      { numRuns: 50 },
    )
  }
  // RFC 3720, appendix B.4
  t.equal(crc32c(Buffer.alloc(32)), 0x8a9136aa)
  t.equal(crc32c(Buffer.alloc(32, 0xff)), 0x62a8ab43)
  t.equal(crc32c(Buffer.from(Array.from({ length: 32 }, (_, index) => index))), 0x46dd794e)
})
