/** Proof bundles: nothing is verified that was not signed and is not true of the file. */
import { isDeepStrictEqual } from 'node:util'
import { canonicalBytes } from '../../../../engine/proof/canonical.ts'
import { parseBundle } from '../../../../engine/proof/parse-bundle.ts'
import { parseStrictJson, StrictJsonError } from '../../../../engine/proof/strict-json.ts'
import { verifyBundle } from '../../../../engine/proof/verify-bundle.ts'
import type { Random } from '../../../support/random.ts'
import { BROKEN, VALID } from '../../../support/proofs/proof-goldens.ts'
import { bundleBytes } from '../../../support/proofs/proof-statements.ts'
import { EVIDENCE } from '../../../support/proofs/proof-verdicts.ts'
import { accepted, type FuzzTarget, mustBeSame, mustHold, refused, type Verdict } from '../target.ts'

const BYTES_MAXIMUM = 64 * 1024
const BUNDLES = Object.values(VALID)
const SEEDS = BUNDLES.map(bundleBytes)

/** What was signed, with its signature, of every bundle that was given out. */
const GIVEN = new Set(
  BUNDLES.map((bundle) => `${Buffer.from(canonicalBytes(bundle)).toString('hex')} ${bundle.signature.value}`),
)

async function judgeBundle(input: Buffer): Promise<Verdict> {
  const { verdict, checks, claims } = await verifyBundle(input, EVIDENCE)
  mustBeSame(checks.length, claims?.format_version === 2 ? 12 : 11, 'checks that were told of')
  const outcome = checks.map(({ status }) => status.charAt(0)).join('')
  const parsed = parseBundle(input)
  mustBeSame(parsed.kind === 'bundle', claims !== undefined, 'claims are told where there is a bundle')
  if (verdict !== 'verified') return refused(outcome)
  if (parsed.kind !== 'bundle') mustHold(false, 'verified, and it is no bundle')
  else {
    const { bundle } = parsed
    const signed = `${Buffer.from(canonicalBytes(bundle)).toString('hex')} ${bundle.signature.value}`
    mustHold(GIVEN.has(signed), 'verified, and it was never given out')
    // Whoever reads the file with any other reader of JSON sees what was verified.
    mustHold(
      isDeepStrictEqual(JSON.parse(input.toString()), JSON.parse(JSON.stringify(bundle))),
      'something else is shown',
    )
  }
  return accepted(outcome)
}

/** Characters of JSON that are told apart by going through the text once. */
function naiveNames(text: string): readonly string[][] {
  const open: string[][] = []
  const all: string[][] = []
  const tokens = text.matchAll(/"(?:[^"\\]|\\.)*"(\s*:)?|[{}]/gs)
  for (const [token, isName] of tokens) {
    if (token === '{') {
      open.push([])
      all.push(open.at(-1) as string[])
    } else if (token === '}') open.pop()
    else if (isName !== undefined) open.at(-1)?.push(JSON.parse(token.replace(/\s*:$/, '')) as string)
  }
  return all
}

function judgeJson(input: Buffer): Verdict {
  let value: unknown
  let why: string | undefined
  try {
    value = parseStrictJson(input)
  } catch (error) {
    if (!(error instanceof StrictJsonError)) throw error
    why = error.message
  }
  if (why !== undefined) return refused(why.replaceAll(/[-\d].*/g, 'number'))
  const text = input.toString()
  mustHold(Buffer.from(text).equals(input) && !text.startsWith('\ufeff'), 'accepted, and it is no UTF-8')
  mustBeSame(value, JSON.parse(text), 'what it means')
  const isTwice = naiveNames(text).some((names) => new Set(names).size < names.length)
  mustHold(!isTwice, 'a member occurs twice')
  for (const [, number = ''] of text.replaceAll(/"(?:[^"\\]|\\.)*"/gs, '""').matchAll(/([-\d][-+.\w]*)/g)) {
    mustHold(/^(0|[1-9][0-9]*)$/.test(number) && Number.isSafeInteger(Number(number)), `${number} is a number`)
  }
  JSON.parse(text, (name, member: unknown) => {
    const isWhole = !/\p{Surrogate}/u.test(name) && (typeof member !== 'string' || !/\p{Surrogate}/u.test(member))
    mustHold(isWhole, 'half of a surrogate pair')
  })
  return accepted()
}

function jsonByChance(random: Random, depth = 0): string {
  const kind = random.below(depth > 3 ? 3 : 5)
  const text = (): string =>
    random.of(['""', '"a"', '"\\u0061"', '"__proto__"', '"\\ud83d\\ude00"', '"\\ud83d"', '"\\\\"', '"a\\""'])
  if (kind === 0) return text()
  if (kind === 1) return random.of(['0', '1', '-1', '1.0', '1e2', '9007199254740991', '9007199254740992', '01', '-0'])
  if (kind === 2) return random.of(['null', 'true', 'false', ' {} ', '[ ]'])
  const inside = Array.from({ length: random.below(4) }, () => jsonByChance(random, depth + 1))
  return kind === 3 ? `[${inside.join(',')}]` : `{${inside.map((each) => `${text()} :${each}`).join(',')}}`
}

const NAMES = 'format format_version object size created_at content_type payload sha256 history'.split(' ')
const VALUES = ['null', 'true', '0', '1', '1.0', '1e2', '[]', '{}', '""', '\\u0061', '\\ud800', '\\', '"', ':', ',']
const OTHERS = ['"left"', '"right"', '"present"', '"unavailable"', '"ed25519"', '2026-08-01T09:30:00Z', '"index":']

export const PROOF_TARGETS: readonly FuzzTarget[] = [
  {
    name: 'proof-bundle',
    seeds: [...SEEDS, ...Object.values(BROKEN)],
    words: [...NAMES.map((name) => `"${name}":`), ...VALUES, ...OTHERS],
    bytesMaximum: BYTES_MAXIMUM,
    judge: judgeBundle,
  },
  {
    name: 'strict-json',
    seeds: ['{"a":1,"b":[{"c":"d"}]}', '[]', '"\\u20ac"', '{"a":{"a":{"a":0}}}'],
    words: [...VALUES, '{"a":', '}', ']', '\ufeff', '"a":', '"\\u0061":', '/', '9007199254740992'],
    bytesMaximum: BYTES_MAXIMUM,
    make: (random) => jsonByChance(random),
    judge: judgeJson,
  },
]
