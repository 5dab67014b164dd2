/**
 * Every bit, byte, path and bound of what an auditor is given: too many to be tried with every change.
 * Proves: RES-CHN-07, RES-TRE-06, RES-TRE-08, RES-VER-03.
 */
import { hash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'tap'
import type { ProofBundle } from '../../engine/proof/bundle-types.ts'
import { leafHash, rootOfPath } from '../../engine/proof/merkle.ts'
import { parseBundle } from '../../engine/proof/parse-bundle.ts'
import { BUNDLE_BYTES_MAXIMUM, verifyBundle } from '../../engine/proof/verify-bundle.ts'
import { treePath, treeRoot } from '../support/proofs/audit-tree.ts'
import { JournalBuilder } from '../support/journals/journal-builder.ts'
import { sampleJournal } from '../support/journals/journal-damage.ts'
import { askStranger as askAboutJournals, verifyAtRest, writeJournal } from '../support/journals/journal-verdicts.ts'
import { VALID } from '../support/proofs/proof-goldens.ts'
import { bundleBytes, GOLDEN_OBJECT, historyOf, signed } from '../support/proofs/proof-statements.ts'
import { askStranger, isSameProof, type Outcome, outcomeOf } from '../support/proofs/proof-verdicts.ts'

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

test('every path of every tree of up to 130 leaves leads to its root, and no other does', async (t) => {
  const hashes = Array.from({ length: 130 }, (_, index) => Buffer.from(hash('sha256', `leaf ${index}`), 'hex'))
  for (let leaves = 1; leaves <= hashes.length; leaves += 1) {
    const tree = hashes.slice(0, leaves)
    const root = treeRoot(tree)
    const wrong = tree.flatMap((recordHash, index) => {
      const steps = treePath(tree, index)
      const found = rootOfPath(leafHash(recordHash), index, leaves, steps)
      if (found === undefined || Buffer.from(found).toString('hex') !== root) return [`${index} is not found`]
      const others = [index - 1, index + 1, index + leaves].filter((other) => other >= 0)
      return others
        .filter((other) => rootOfPath(leafHash(recordHash), other, leaves, steps) !== undefined)
        .map((other) => `${index} passes for ${other}`)
    })
    t.same(wrong, [], `${leaves} leaves`)
  }
})

async function statusOf(bundle: Uint8Array, check: string): Promise<string | undefined> {
  return (await verifyBundle(bundle, {})).checks.find(({ name }) => name === check)?.status
}

test('large bundles: as large as may be, and larger', async (t) => {
  const receipt = 'A'.repeat(4 * Math.floor((BUNDLE_BYTES_MAXIMUM - 4096) / 4))
  const large = bundleBytes(signed({ history: historyOf(0, 2, [1], { kind: 'x', receipt }) }))
  t.ok(large.length <= BUNDLE_BYTES_MAXIMUM)
  t.equal(await statusOf(large, 'signature'), 'passed')
  const padded = Buffer.concat([large, Buffer.alloc(BUNDLE_BYTES_MAXIMUM - large.length + 1, ' ')])
  t.equal(await statusOf(padded.subarray(0, -1), 'signature'), 'passed', 'white space is none of it')
  t.equal(await statusOf(padded, 'format'), 'failed')
  const escapes = bundleBytes(signed({ object: { ...GOLDEN_OBJECT, key: '\\"'.repeat(2 ** 20) } }))
  t.equal(await statusOf(escapes, 'signature'), 'passed')
  const hashes = historyOf(0, 9, [1, 2, 3, 4, 5])
  const records = Array.from({ length: 10_000 }, (_, index) => ({
    ...hashes.records[index % 5]!,
    sequence: index,
  }))
  t.equal(await statusOf(bundleBytes(signed({ history: { ...hashes, records } })), 'signature'), 'passed')
})

test('every flipped bit is reported', async (t) => {
  const root = t.testdir()
  const journal = sampleJournal()
  const head = new JournalBuilder().head()
  const directory = writeJournal(root, journal, head)
  const sampled: { directory: string; intact: boolean }[] = []
  for (const segment of journal.segments) {
    const { name, bytes } = segment
    const silent: number[] = []
    for (let offset = 0; offset < bytes.length; offset += 1) {
      const bit = 1 << (offset % 8)
      bytes[offset] = (bytes[offset] ?? 0) ^ bit
      writeFileSync(join(directory, name), bytes)
      const report = await verifyAtRest(directory)
      const inTail = segment === journal.open && report.openSegmentTornTail !== undefined
      if (report.problemCount === 0 && !inTail) silent.push(offset)
      if (offset % 53 === 0) sampled.push({ directory: writeJournal(root, journal, head), intact: report.intact })
      bytes[offset] = (bytes[offset] ?? 0) ^ bit
    }
    writeFileSync(join(directory, name), bytes)
    t.same(silent, [], `${name}: no flip in ${bytes.length} bytes passes without a word`)
  }
  t.ok((await verifyAtRest(directory)).intact, 'without a flip it is intact')
  const stranger = askAboutJournals(...sampled.map((sample) => sample.directory)).map((text) => /^intact/m.test(text))
  t.same(
    stranger,
    sampled.map(({ intact }) => intact),
    `the stranger agrees on ${sampled.length} of them`,
  )
})
