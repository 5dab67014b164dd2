/**
 * Bundles made by chance, in this program and in a page.
 * Proves: RES-BUN-10, RES-ENC-01, RES-VER-06.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import * as fc from 'fast-check'
import { test } from 'tap'
import type { ProofHistory } from '../../engine/proof/bundle-types.ts'
import { canonicalBytes } from '../../engine/proof/canonical.ts'
import { verifyBundle } from '../../engine/proof/verify-bundle.ts'
import { BROKEN, VALID } from '../support/proofs/proof-goldens.ts'
import {
  bundleBytes,
  GOLDEN_DIGEST,
  GOLDEN_FILE,
  GOLDEN_PUBLIC_KEY,
  historyOf,
  signed,
} from '../support/proofs/proof-statements.ts'
import { askStranger, EVIDENCE, type Outcome, outcomeOf } from '../support/proofs/proof-verdicts.ts'
import { runsOf } from '../support/share-of-cases.ts'
import { importsOf } from '../tidy/imports.ts'
import { fileOf } from '../tidy/project-files.ts'
import { anyCharacter } from '../support/any-character.ts'

const text = fc.string({ unit: anyCharacter, maxLength: 20 }).filter((each) => !/\p{Surrogate}/u.test(each))
const time = fc
  .date({ min: new Date('0000-01-01T00:00:00Z'), max: new Date('9999-12-31T23:59:59Z'), noInvalidDate: true })
  .map((date) => date.toISOString())

const history: fc.Arbitrary<ProofHistory> = fc.oneof(
  fc.record({
    status: fc.constant('unavailable' as const),
    reason: fc.constantFrom('chain_not_enabled', 'version_predates_chain', 'not_yet_checkpointed'),
    detail: text,
  }),
  fc
    .tuple(fc.nat(2 ** 30), fc.integer({ min: 1, max: 40 }), fc.uniqueArray(fc.nat(39), { minLength: 1, maxLength: 5 }))
    .map(([from, leaves, indexes]) => {
      const inside = indexes.map((index) => from + (index % leaves))
      return historyOf(from, from + leaves - 1, [...new Set(inside)])
    }),
)

const object = fc.record(
  {
    bucket: text,
    key: text,
    version_id: text,
    size: fc.constant(GOLDEN_FILE.length),
    created_at: time,
    content_type: text,
  },
  { requiredKeys: ['bucket', 'key', 'version_id', 'size', 'created_at'] },
)

test('whatever is signed is verified, in any spelling of its JSON', async (t) => {
  const property = fc.asyncProperty(object, history, fc.nat(4), async (stated, told, indent) => {
    const bundle = signed({ object: stated, history: told })
    const escaped = JSON.stringify(bundle, undefined, indent).replaceAll(
      /[^\n -~]/g,
      (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
    )
    for (const bytes of [bundleBytes(bundle), Buffer.from(escaped)]) {
      const { verdict, claims } = await verifyBundle(bytes, EVIDENCE)
      if (verdict !== 'verified' || claims?.object.key !== stated.key) return false
    }
    return true
  })
  await t.resolves(fc.assert(property, { numRuns: runsOf(40, 12) }))
})

test('two statements never have the same signed bytes', async (t) => {
  const pair = fc.tuple(object, history)
  const property = fc.property(pair, pair, (left, right) => {
    const [one, other] = [left, right].map(([stated, told]) => signed({ object: stated, history: told }))
    const isSame = JSON.stringify({ ...one, signature: 0 }) === JSON.stringify({ ...other, signature: 0 })
    return isSame === Buffer.from(canonicalBytes(one!)).equals(canonicalBytes(other!))
  })
  t.doesNotThrow(() => fc.assert(property, { numRuns: runsOf(100, 30) }))
})

const valid: readonly Buffer[] = Object.values(VALID).map(bundleBytes)

/** Splices bytes of other bundles, chance, and repetition into a bundle. */
const mutated: fc.Arbitrary<Buffer> = fc
  .tuple(
    fc.constantFrom(...valid),
    fc.array(
      fc.record({
        at: fc.nat(),
        remove: fc.nat(40),
        insert: fc.oneof(
          fc.uint8Array({ maxLength: 20 }),
          fc
            .constantFrom('"', '\\', '{', '}', ',', '0', '1e9', 'null', '[]', '\ufffd', ' ')
            .map((each) => Buffer.from(each)),
          fc.tuple(fc.constantFrom(...valid), fc.nat(), fc.nat(60)).map(([from, start, length]) => {
            const begin = start % from.length
            return from.subarray(begin, begin + length)
          }),
        ),
      }),
      { minLength: 1, maxLength: 4 },
    ),
  )
  .map(([original, splices]) =>
    splices.reduce((bytes, { at, remove, insert }) => {
      const start = at % (bytes.length + 1)
      return Buffer.concat([bytes.subarray(0, start), insert, bytes.subarray(start + remove)])
    }, original),
  )

/** Values that one reader may take and another may not. */
const NUMBERS = ['1', '0', '-0', '01', '1.0', '1e2', '9007199254740991', '9007199254740992', '1'.repeat(5000), 'NaN']

const TEXTS = [
  '""',
  '"\\u0000"',
  '"\\ud83d\\ude00"',
  '"\\ud83d"',
  '"\u2028"',
  '"\t"',
  '"\\/"',
  'null',
  'true',
  '[]',
  '{}',
]

const TIMES = ['2026-08-01T09:30:00Z', '2026-02-30T00:00:00Z', '0000-02-29T00:00:00.1Z', '2026-08-01T09:30:60Z']
const OFFSETS = [
  '2026-08-01T00:00:00+23:59',
  '2026-08-01T00:00:00-00:00',
  '0000-01-01T00:00:00+00:01',
  '2100-02-29T00:00:00Z',
]

const odd = fc.constantFrom(...NUMBERS, ...TEXTS, ...[...TIMES, ...OFFSETS].map((each) => JSON.stringify(each)))

/** A bundle in whose text one value is another. */
const replaced: fc.Arbitrary<Buffer> = fc
  .tuple(fc.constantFrom(...valid), fc.nat(), odd)
  .map(([original, at, value]) => {
    const document = original.toString()
    const values = [...document.matchAll(/(?<=:)(?:"[^"]*"|\d+)/g)]
    const found = values[at % values.length]
    if (found === undefined) throw new Error('a bundle has values')
    return Buffer.from(document.slice(0, found.index) + value + document.slice(found.index + found[0].length))
  })

test('both verifiers say the same of what chance made', async (t) => {
  const corpus = fc.sample(fc.oneof(mutated, replaced, replaced), 600)
  const outcomes: Outcome[] = []
  for (const bytes of corpus) outcomes.push(await outcomeOf(bytes))
  const answers = askStranger(corpus)
  const apart = corpus.flatMap((bytes, index) =>
    JSON.stringify(answers[index]) === JSON.stringify(outcomes[index])
      ? []
      : [[bytes.toString(), answers[index], outcomes[index]]],
  )
  t.same(apart, [])
  t.ok(outcomes.some(({ checks }) => checks['format'] === 'passed'))
})

const FOLDER = 'engine/proof'
const REALM = new URL('../support/proofs/page-realm.js', import.meta.url)
const VERIFIER = fileURLToPath(new URL('../../engine/proof/verify-bundle.js', import.meta.url))

test('no module of it imports anything that only Node.js has', async (t) => {
  const imports = readdirSync(FOLDER).flatMap((name) => {
    const path = join(FOLDER, name)
    return importsOf(fileOf(path, readFileSync(path, 'utf8')))
  })
  const others = new Set(imports.map(({ specifier }) => specifier).filter((specifier) => !specifier.startsWith('./')))
  t.same([...others].toSorted(), ['@noble/ed25519', '@noble/hashes/sha2.js', '@noble/hashes/utils.js'])
})

test('it judges every golden bundle in a realm with the globals of a page and no others', async (t) => {
  const bundles = [...Object.values(VALID).map(bundleBytes), ...Object.values(BROKEN)]
  const worker = new Worker(REALM, {
    execArgv: ['--experimental-vm-modules', '--no-warnings'],
    workerData: {
      verifier: VERIFIER,
      bundles,
      publicKey: GOLDEN_PUBLIC_KEY,
      file: { sha256: GOLDEN_DIGEST, size: GOLDEN_FILE.length },
    },
  })
  const { verdicts, globals } = await new Promise<{ verdicts: string[]; globals: string[] }>((resolve, reject) => {
    worker.on('message', resolve)
    worker.on('error', reject)
  })
  t.same(
    globals,
    ['process', 'Buffer', 'require', 'global', 'setTimeout'].map(() => 'undefined'),
  )
  const expected = JSON.parse(readFileSync('spec/golden/proof-v1/expected.json', 'utf8')) as Record<
    'valid' | 'broken',
    Record<string, { readonly verdict: string }>
  >
  const wanted = [
    ...Object.keys(VALID).map((name) => expected.valid[name]?.verdict),
    ...Object.keys(BROKEN).map((name) => expected.broken[name]?.verdict),
  ]
  t.same(verdicts, wanted)
})
