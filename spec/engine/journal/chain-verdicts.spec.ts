/** The last verdicts on the chain: which one counts, and that a crash or a rotten file never makes one up. */
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'tap'
import { millisecondsOf } from '../../../engine/brands.ts'
import { nodeDisk } from '../../../engine/disk/node-disk.ts'
import { StorePaths } from '../../../engine/disk/store-paths.ts'
import {
  type ChainVerdict,
  ChainVerdicts,
  type KeptVerdicts,
  withVerdict,
} from '../../../engine/journal/chain-verdicts.ts'
import { crc32 } from '../../../engine/hashing/crc32.ts'
import { failingAt } from '../../support/failing-disk.ts'
import { flipBitInPlace } from '../../support/journal-files.ts'

const ID = 'ab'.repeat(16)
const INTACT: ChainVerdict = {
  from: 0,
  through: 99,
  headHash: 'cd'.repeat(32),
  atMilliseconds: millisecondsOf(1_780_000_000_000),
  by: 'management:auditor tok-1',
  program: 'audit chain',
  problem: undefined,
}
const DAMAGED: ChainVerdict = {
  ...INTACT,
  from: 40,
  program: 'journal verify',
  problem: {
    sequence: 41,
    segment: '0000000000000000.segment',
    offset: 4711,
    verdict: 'content changed',
    detail: 'it has another hash',
  },
}
const PART: ChainVerdict = { ...INTACT, from: 50, through: 120, program: 'server start', by: 'system:server' }
const NONE: KeptVerdicts = { whole: undefined, part: undefined }

test('damage stays until the whole chain was verified', (t) => {
  t.same(withVerdict(NONE, INTACT), { whole: INTACT, part: undefined })
  t.same(withVerdict(NONE, PART), { whole: undefined, part: PART }, 'a part is not the whole')
  const sound = withVerdict(withVerdict(NONE, INTACT), PART)
  t.same(sound, { whole: INTACT, part: PART })
  const damaged = withVerdict(sound, DAMAGED)
  t.same(damaged, { whole: DAMAGED, part: undefined }, 'damage in a part is damage of the whole')
  t.same(withVerdict(damaged, PART), { whole: DAMAGED, part: PART }, 'a sound part does not heal another one')
  t.same(withVerdict(damaged, INTACT), { whole: INTACT, part: undefined })
  t.end()
})

test('verdicts are as they were kept, with long texts cut', (t) => {
  const paths = new StorePaths(t.testdir())
  const verdicts = new ChainVerdicts(nodeDisk, paths, ID)
  t.same(verdicts.read(), { ...NONE, ignored: undefined })
  for (const verdict of [INTACT, PART, DAMAGED]) verdicts.keep(verdict)
  t.same(new ChainVerdicts(nodeDisk, paths, ID).read(), { whole: DAMAGED, part: undefined, ignored: undefined })
  const words = { verdict: 'x'.repeat(5000), detail: '\u20ac'.repeat(5000) }
  const unplaced = { sequence: undefined, segment: undefined, offset: undefined, ...words }
  verdicts.keep({ ...DAMAGED, through: undefined, headHash: undefined, by: 'y'.repeat(5000), problem: unplaced })
  const { whole } = verdicts.read()
  t.match(whole, { through: undefined, headHash: undefined, problem: { sequence: undefined, segment: undefined } })
  for (const text of [whole?.by, whole?.problem?.verdict, whole?.problem?.detail]) {
    t.match(text, /\.\.\. sha256:[0-9a-f]{64}$/)
  }
  t.same(readdirSync(paths.root), ['verified'])
  t.end()
})

test('a verdict about another journal is ignored, and does not come back', (t) => {
  const paths = new StorePaths(t.testdir())
  const verdicts = new ChainVerdicts(nodeDisk, paths, ID)
  verdicts.keep(INTACT)
  t.same(verdicts.read(99), { whole: INTACT, part: undefined, ignored: undefined })
  t.same(verdicts.read(98), { ...NONE, ignored: 'it is about another journal' }, 'the journal is shorter')
  const other = new ChainVerdicts(nodeDisk, paths, 'ef'.repeat(16))
  t.same(other.read(), { ...NONE, ignored: 'it is about another journal' })
  t.same(new ChainVerdicts(nodeDisk, paths, undefined).read().whole, INTACT, 'an unknown journal may be this one')
  other.keep(PART)
  t.same(other.read(), { whole: undefined, part: PART, ignored: undefined }, 'what was ignored is gone')
  verdicts.keep(INTACT)
  verdicts.keep({ ...PART, through: 60 }, 60)
  t.same(verdicts.read().whole, undefined)
  t.end()
})

test('every flipped bit and every cut makes it ignored, and never another verdict', (t) => {
  const paths = new StorePaths(t.testdir())
  const verdicts = new ChainVerdicts(nodeDisk, paths, ID)
  verdicts.keep(DAMAGED)
  verdicts.keep(PART)
  const bytes = readFileSync(paths.verified)
  for (let bit = 0; bit < bytes.length * 8; bit += 1) {
    flipBitInPlace(paths.verified, bit)
    const { whole, part, ignored } = verdicts.read()
    if (whole !== undefined || part !== undefined || ignored === undefined) t.fail(`bit ${bit} is not noticed`)
    flipBitInPlace(paths.verified, bit)
  }
  t.same(verdicts.read(), { whole: DAMAGED, part: PART, ignored: undefined })
  for (let length = 0; length < bytes.length; length += 1) {
    writeFileSync(paths.verified, bytes.subarray(0, length))
    if (verdicts.read().ignored === undefined) t.fail(`a cut at ${length} is not noticed`)
  }
  writeFileSync(paths.verified, Buffer.alloc(20_000, 0x20))
  t.match(verdicts.read(), { ignored: 'it has 20000 bytes' })
  for (const text of ['null', '{"deployment_id":null,"whole":{"from":"x"},"part":null}', '{']) {
    writeFileSync(paths.verified, `${sumOf(text)} ${text}\n`)
    t.same(verdicts.read(), { ...NONE, ignored: 'its form is unknown' }, text)
  }
  verdicts.keep(INTACT)
  t.same(verdicts.read().whole, INTACT, 'the next verdict replaces it')
  t.end()
})

function sumOf(text: string): string {
  return crc32(Buffer.from(text)).toString(16).padStart(8, '0')
}

test('a disk that fails at any operation leaves the verdict before, or the new one', (t) => {
  const paths = new StorePaths(t.testdir())
  new ChainVerdicts(nodeDisk, paths, ID).keep(INTACT)
  let failures = 0
  for (let operation = 0; ; operation += 1) {
    const { disk, reached } = failingAt(operation)
    try {
      new ChainVerdicts(disk, paths, ID).keep(DAMAGED)
    } catch {
      failures += 1
    }
    const { whole, ignored } = new ChainVerdicts(nodeDisk, paths, ID).read()
    t.equal(ignored, undefined)
    t.same(whole, reached() ? INTACT : DAMAGED, `operation ${operation}`)
    if (!reached()) break
  }
  t.ok(failures >= 3, 'creating, writing and renaming can fail')
  rmSync(join(paths.root, 'verified'))
  t.end()
})
