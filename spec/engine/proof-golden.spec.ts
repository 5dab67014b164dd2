/** Proof bundles that were given out once, and what nobody may make of them (T7, T13). */
import { spawnSync, type SpawnSyncReturns } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'tap'
import type { ProofBundle } from '../../engine/proof/bundle-types.ts'
import { canonicalBytes } from '../../engine/proof/canonical.ts'
import { parseBundle } from '../../engine/proof/parse-bundle.ts'
import { type ProofEvidence, verifyBundle } from '../../engine/proof/verify-bundle.ts'
import { BROKEN, VALID } from '../support/proof-goldens.ts'
import { bundleBytes, GOLDEN_FILE, GOLDEN_PUBLIC_KEY } from '../support/proof-statements.ts'
import { askStranger, EVIDENCE, type Outcome, outcomeOf, STRANGER } from '../support/proof-verdicts.ts'

const GOLDEN = 'spec/golden/proof-v1'

interface Expected {
  readonly public_key: string
  readonly valid: Readonly<Record<string, Outcome & { readonly canonical: string }>>
  readonly broken: Readonly<Record<string, Outcome>>
}

const expected = JSON.parse(readFileSync(join(GOLDEN, 'expected.json'), 'utf8')) as Expected
const SAMPLE = bundleBytes(VALID['unavailable'])

function golden(folder: 'valid' | 'broken', name: string): Buffer {
  return readFileSync(join(GOLDEN, folder, `${name}.json`))
}

test('every golden bundle is what it was, and is judged as it was', async (t) => {
  t.same(readFileSync(join(GOLDEN, 'file.txt')), GOLDEN_FILE)
  t.equal(expected.public_key, GOLDEN_PUBLIC_KEY, 'the key is derived as it was')
  for (const [name, { canonical, verdict, checks }] of Object.entries(expected.valid)) {
    const bytes = golden('valid', name)
    t.same(bytes, bundleBytes(VALID[name]), `${name}: the signer makes the same bytes again`)
    const parsed = parseBundle(bytes)
    if (parsed.kind !== 'bundle') throw new Error(`${name} is not read`)
    t.equal(Buffer.from(canonicalBytes(parsed.bundle)).toString('hex'), canonical, name)
    t.same(await outcomeOf(bytes), { verdict, checks }, name)
    t.equal(verdict, 'verified', name)
  }
  for (const [name, outcome] of Object.entries(expected.broken)) {
    const bytes = golden('broken', name)
    t.same(bytes, BROKEN[name], name)
    t.same(await outcomeOf(bytes), outcome, name)
    t.not(outcome.verdict, 'verified', name)
  }
  const names = (folder: string) => readdirSync(join(GOLDEN, folder)).map((file) => file.replace('.json', ''))
  t.same(names('valid').toSorted(), Object.keys(VALID).toSorted())
  t.same(names('broken').toSorted(), Object.keys(BROKEN).toSorted())
})

function ask(...words: readonly string[]): SpawnSyncReturns<string> {
  return spawnSync('python3', ['-B', STRANGER, ...words], { encoding: 'utf8' })
}

test('the verifier in Python, written from the page, says the same of every golden bundle', async (t) => {
  const names = Object.keys(expected.valid)
  const files = names.map((name) => join(GOLDEN, 'valid', `${name}.json`))
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
  const [file, bundle] = [join(GOLDEN, 'file.txt'), join(GOLDEN, 'valid', 'history.json')]
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

/** Whether two bundles have the same signed bytes and the same signature: then they are one. */
function isSameProof(left: ProofBundle, right: ProofBundle): boolean {
  return (
    Buffer.compare(canonicalBytes(left), canonicalBytes(right)) === 0 &&
    JSON.stringify(left.signature) === JSON.stringify(right.signature)
  )
}

test('no bit of a golden bundle can be another one', async (t) => {
  for (const name of ['unavailable', 'history', 'anchor-without-time']) {
    const bundle = VALID[name] as ProofBundle
    const bytes = bundleBytes(bundle)
    const accepted: string[] = []
    for (let bit = 0; bit < bytes.length * 8; bit += 1) {
      const flipped = Buffer.from(bytes)
      flipped[bit >> 3]! ^= 1 << (bit & 7)
      const parsed = parseBundle(flipped)
      // Whatever is signed otherwise, or has another signature, is for the next case.
      if (parsed.kind === 'bundle' && isSameProof(parsed.bundle, bundle)) accepted.push(`bit ${bit}`)
    }
    t.same(accepted, [], name)
  }
})

test('no byte of a golden bundle can be another one: both verifiers refuse', async (t) => {
  const bytes = bundleBytes(VALID['unavailable'])
  const flipped = Array.from(bytes, (byte, at) => {
    const copy = Buffer.from(bytes)
    copy[at] = byte ^ (1 << (at % 8))
    return copy
  })
  const outcomes: Outcome[] = []
  for (const bundle of flipped) outcomes.push(await outcomeOf(bundle))
  const accepted = outcomes.flatMap(({ verdict }, at) => (verdict === 'verified' ? [`byte ${at}`] : []))
  t.same(accepted, [])
  t.same(askStranger(flipped), outcomes, 'the verifier in Python agrees on every check')
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
