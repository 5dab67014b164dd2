/**
 * Proof bundles that were given out once, and what nobody may make of them (T7, T13).
 * Proves: RES-BUN-02, RES-BUN-10, RES-BUN-12, RES-BUN-15, RES-BUN-16, RES-BUN-17, RES-ENC-01, RES-ENC-02, RES-ENC-03,
 * RES-ENC-04, RES-ENC-05, RES-ENC-06, RES-ENC-07, RES-ENC-08, RES-TRE-04, RES-TRE-05, RES-TRE-06, RES-TRE-07,
 * RES-TRE-08, RES-VER-01, RES-VER-02, RES-VER-03, RES-VER-04, RES-VER-06, VER-ANY-03, VER-ANY-04.
 */
import { spawnSync, type SpawnSyncReturns } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'tap'
import type { ProofBundle } from '../../engine/proof/bundle-types.ts'
import { canonicalBytes } from '../../engine/proof/canonical.ts'
import { parseBundle } from '../../engine/proof/parse-bundle.ts'
import { type ProofEvidence, verifyBundle } from '../../engine/proof/verify-bundle.ts'
import { BROKEN, GOLDEN_BUNDLES, VALID } from '../support/proofs/proof-goldens.ts'
import { bundleBytes, GOLDEN_FILE, GOLDEN_PUBLIC_KEY, signed } from '../support/proofs/proof-statements.ts'
import { strideOf } from '../support/share-of-cases.ts'
import {
  askStranger,
  EVIDENCE,
  isSameProof,
  type Outcome,
  outcomeOf,
  STRANGER,
} from '../support/proofs/proof-verdicts.ts'

interface Expected {
  readonly public_key: string
  readonly valid: Readonly<Record<string, Outcome & { readonly canonical: string }>>
  readonly broken: Readonly<Record<string, Outcome>>
}

const expected = JSON.parse(readFileSync(join(GOLDEN_BUNDLES, 'expected.json'), 'utf8')) as Expected
const SAMPLE = bundleBytes(VALID['unavailable'])

function golden(folder: 'valid' | 'broken', name: string): Buffer {
  return readFileSync(join(GOLDEN_BUNDLES, folder, `${name}.json`))
}

test('every golden bundle is what it was, and is judged as it was', async (t) => {
  t.same(readFileSync(join(GOLDEN_BUNDLES, 'file.txt')), GOLDEN_FILE)
  t.equal(expected.public_key, GOLDEN_PUBLIC_KEY, 'the key is derived as it was')
  for (const [name, { canonical, verdict, checks }] of Object.entries(expected.valid)) {
    const bytes = golden('valid', name)
    const parsed = parseBundle(bytes)
    if (parsed.kind !== 'bundle') throw new Error(`${name} is not read`)
    const { object, payload, history } = VALID[name] as ProofBundle
    t.same(
      bytes,
      bundleBytes(signed({ object, history, ...payload })),
      `${name}: the signer makes the same bytes again`,
    )
    t.equal(Buffer.from(canonicalBytes(parsed.bundle)).toString('hex'), canonical, name)
    t.same(await outcomeOf(bytes), { verdict, checks }, name)
    t.equal(verdict, 'verified', name)
  }
  for (const [name, outcome] of Object.entries(expected.broken)) {
    t.same(await outcomeOf(golden('broken', name)), outcome, name)
    t.not(outcome.verdict, 'verified', name)
  }
  t.same(Object.keys(expected.valid).toSorted(), Object.keys(VALID).toSorted())
  t.same(Object.keys(expected.broken).toSorted(), Object.keys(BROKEN).toSorted())
})

function ask(...words: readonly string[]): SpawnSyncReturns<string> {
  return spawnSync('python3', ['-B', STRANGER, ...words], { encoding: 'utf8' })
}

test('the verifier in Python, written from the page, says the same of every golden bundle', async (t) => {
  const names = Object.keys(expected.valid)
  const files = names.map((name) => join(GOLDEN_BUNDLES, 'valid', `${name}.json`))
  const encoded = ask('--canonical', ...files)
  const canonical = names.map((name) => expected.valid[name]?.canonical)
  t.same(encoded.stdout.trimEnd().split('\n'), canonical, 'its encoder gives the same bytes')
  const all = { ...expected.valid, ...expected.broken }
  const bundles = Object.keys(all).map((name) => golden(name in expected.valid ? 'valid' : 'broken', name))
  const answers = askStranger(bundles)
  for (const [index, [name, { verdict, checks }]] of Object.entries(all).entries()) {
    t.same(answers[index], { verdict, checks }, name)
  }
})

test('the verifier in Python is a command', async (t) => {
  const [file, bundle] = [join(GOLDEN_BUNDLES, 'file.txt'), join(GOLDEN_BUNDLES, 'valid', 'history.json')]
  const key = ['--public-key', expected.public_key]
  const verified = ask(...key, file, bundle)
  t.equal(verified.status, 0)
  t.match(JSON.parse(verified.stdout), { bundle: 'history.json', verdict: 'verified' })
  t.equal(ask(file, bundle).status, 2, 'nobody said whose key it is')
  t.equal(ask(...key, STRANGER, bundle).status, 1, 'another file')
})

test('a verifier without a key or a file says what is not proved', async (t) => {
  const neither = await outcomeOf(SAMPLE, {})
  t.match(neither, {
    verdict: 'not proved',
    checks: { signature: 'passed', 'deployment identity': 'not proved', payload: 'not proved', size: 'not proved' },
  })
  const { digestFile, expectedPublicKey } = EVIDENCE
  t.match(await outcomeOf(SAMPLE, { digestFile } as ProofEvidence), { verdict: 'not proved' })
  t.match(await outcomeOf(SAMPLE, { expectedPublicKey } as ProofEvidence), { verdict: 'not proved' })
  const inCapitals = { ...EVIDENCE, expectedPublicKey: GOLDEN_PUBLIC_KEY.toUpperCase() }
  t.match(await outcomeOf(SAMPLE, inCapitals), { verdict: 'verified' })
  const report = await verifyBundle(SAMPLE, {})
  t.ok(
    report.checks.every(({ sentence }) => /^[A-Z].*\.$/.test(sentence)),
    'each check has a sentence',
  )
})

test('the file is not read for a bundle that cannot be', async (t) => {
  const evidence = { digestFile: () => Promise.reject(new Error('read')) }
  for (const name of ['newer-format', 'empty', 'unknown-member']) {
    t.equal((await verifyBundle(golden('broken', name), evidence)).checks.length, 11, name)
  }
  await t.rejects(verifyBundle(SAMPLE, evidence), { message: 'read' })
})

type Json = Readonly<Record<string, unknown>>

/** Every member of an object and of the objects and lists in it, as paths. */
function pathsOf(value: unknown): string[][] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, member]) => [[name], ...pathsOf(member).map((path) => [name, ...path])])
}

function memberAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce((found, name) => (found as Json | undefined)?.[name], value)
}

function withMember(value: unknown, [name, ...rest]: readonly string[], member: unknown): unknown {
  if (name === undefined) return member
  if (Array.isArray(value)) {
    return value.map((item, index) => (String(index) === name ? withMember(item, rest, member) : item))
  }
  return { ...(value as Json), [name]: withMember((value as Json)[name], rest, member) }
}

test('no member can be that of another valid bundle', async (t) => {
  for (const [name, bundle] of Object.entries(VALID)) {
    const accepted: string[] = []
    let tried = 0
    for (const other of Object.values(VALID)) {
      for (const path of pathsOf(bundle)) {
        const [mine, theirs] = [memberAt(bundle, path), memberAt(other, path)]
        if (theirs === undefined || JSON.stringify(mine) === JSON.stringify(theirs)) continue
        tried += 1
        const bytes = bundleBytes(withMember(bundle, path, theirs))
        const parsed = parseBundle(bytes)
        const isSame = parsed.kind === 'bundle' && isSameProof(parsed.bundle, bundle)
        // A signature costs a millisecond: deeper down it is enough that other bytes are signed.
        if (isSame || (path.length === 1 && (await outcomeOf(bytes)).verdict === 'verified')) {
          accepted.push(path.join('.'))
        }
      }
    }
    t.ok(tried > 10, `${name}: ${tried} members`)
    t.same(accepted, [], name)
  }
})

/** What the verifier says of the inclusion of a broken bundle. */
async function inclusionOf(name: string): Promise<string | undefined> {
  const { checks } = await verifyBundle(golden('broken', name), EVIDENCE)
  return checks.find((check) => check.name === 'inclusion')?.sentence
}

test('a forged history is refused by name', async (t) => {
  const reasons: Readonly<Record<string, RegExp>> = {
    'index-too-large': /its index is \d+, and/,
    'index-of-another': /its index is \d+, and/,
    'path-too-long': /its path has \d+ steps?, and needs \d+/,
    'path-too-short': /its path has \d+ steps?, and needs \d+/,
    'sides-exchanged': /the sides of its path are not those of its index/,
    'other-root': /its path leads to another root/,
    'other-record-hash': /its path leads to another root/,
    'root-of-log-tree': /its path leads to another root/,
    'paths-of-log-tree': /its path leads to another root/,
    'root-before-its-hash': /its path leads to another root/,
    'checkpoint-of-another-store': /its path leads to another root/,
    'leaf-count-too-small': /^The record \d+ is not in the tree/,
    'span-shifted': /^The record \d+ is not in the tree/,
  }
  for (const [name, reason] of Object.entries(reasons)) t.match(await inclusionOf(name), reason, name)
  const { checks } = await verifyBundle(golden('broken', 'leaf-count-0'), EVIDENCE)
  t.match(checks.find(({ name }) => name === 'checkpoint')?.sentence, /^The checkpoint covers no record\.$/)
})

test('a byte that is another one is another bundle, or none', async (t) => {
  for (const [name, bundle] of Object.entries(VALID)) {
    if (bundle.history.status !== 'present') continue
    const bytes = golden('valid', name)
    const accepted: number[] = []
    const sampled: Buffer[] = []
    for (let at = 0; at < bytes.length; at += 1) {
      const flipped = Buffer.from(bytes)
      flipped[at]! ^= 1 << (at % 8)
      const parsed = parseBundle(flipped)
      // A signature costs a millisecond: it is enough that other bytes are signed, or that the signature is another one.
      if (parsed.kind === 'bundle' && isSameProof(parsed.bundle, bundle)) accepted.push(at)
      else if (parsed.kind === 'bundle' && at % (11 * strideOf(3)) === 0) sampled.push(flipped)
    }
    t.same(accepted, [], `${name}: ${bytes.length} bytes`)
    const verdicts = await Promise.all(sampled.map(async (flipped) => (await outcomeOf(flipped)).verdict))
    t.same(
      askStranger(sampled).map(({ verdict }) => verdict),
      verdicts,
      `${name}: both verifiers say the same of ${sampled.length}`,
    )
    t.notOk(verdicts.includes('verified'), name)
  }
})
