/**
 * Whether the time of a refusal tells how much of a token was right. The figure is for the reader: what holds is that
 * tokens are compared as digests of one length by timingSafeEqual, which is looked up in the source (S14).
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Assault } from './assault.ts'
import { Lane } from '../../support/raw/lane.ts'
import { apiBytes } from './signed-requests.ts'

const ROUNDS = 400
const ROOT = fileURLToPath(new URL('../../../..', import.meta.url))

/** Where secrets are compared, and what must stand there. */
const COMPARISONS: readonly (readonly [path: string, words: RegExp])[] = [
  ['planes/management/access/bearer-token.ts', /timingSafeEqual\(tokenDigest\(sent\), tokenDigest\(expected\)\)/],
  ['planes/management/access/bearer-token.ts', /createHash\('sha256'\)\.update\(token\)\.digest\(\)/],
  [
    'planes/s3/signing/equal-hex.ts',
    /SIGNATURE_HEX\.test\(hex\)\) return false\n.*\n.*\n {2}return timingSafeEqual\(compared\[0\], compared\[1\]\)/,
  ],
  ['planes/s3/identity/authenticate.ts', /return equalsHex\(signingKey\.sign\(.*\), claims\.signature\)/],
  ['planes/s3/signing/chunk-signatures.ts', /return equalsHex\(this\.#previous, signature\)/],
]

function wrongAt(token: string, at: number): string {
  const other = token[at] === 'a' ? 'b' : 'a'
  return token.slice(0, at) + other + token.slice(at + 1)
}

function median(values: readonly number[]): number {
  return values.toSorted((left, right) => left - right)[Math.floor(values.length / 2)] ?? 0
}

/** Says the difference of the medians; gives a line for the reader. */
export async function attackTiming(assault: Assault): Promise<string> {
  const { arena, ledger, random } = assault
  const rounds = assault.fewer(ROUNDS)
  for (const [path, words] of COMPARISONS) {
    if (words.test(readFileSync(join(ROOT, path), 'utf8'))) continue
    ledger.fault('wrong', path, `does not compare digests of one length in constant time: ${words.source}`)
  }
  const { systemToken } = arena.known
  const tokens = { first: wrongAt(systemToken, 0), last: wrongAt(systemToken, systemToken.length - 1) }
  const times = { first: [] as number[], last: [] as number[] }
  const lane = new Lane(arena.apiPort)
  for (let round = 0; round < rounds; round += 1) {
    // Which comes first is left to chance, so that neither is always the one after the other.
    const order = random.below(2) === 0 ? (['first', 'last'] as const) : (['last', 'first'] as const)
    for (const which of order) {
      const bytes = apiBytes(arena, 'GET', '/api/v1/auth/session', { token: tokens[which] })
      const started = performance.now()
      const { answer } = await lane.exchange(bytes, 'GET')
      times[which].push((performance.now() - started) * 1000)
      ledger.requests += 1
      if (answer?.status !== 401)
        ledger.fault('let in', `token wrong in the ${which} character`, String(answer?.status))
    }
  }
  lane.close()
  ledger.tried('tokens with one wrong character', rounds * 2)
  const [first, last] = [median(times.first), median(times.last)]
  const difference = Math.abs(first - last).toFixed(1)
  return `a token wrong in its first or in its last character: ${first.toFixed(1)} and ${last.toFixed(1)} µs, ${difference} apart`
}
