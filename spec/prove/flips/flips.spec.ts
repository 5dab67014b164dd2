/** The proof of flips finds what it looks for: wrong answers, damage that is hidden, and derived data that differs. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import tap, { test } from 'tap'
import { Random } from '../../support/random.ts'
import { chooseFlip, type Flip, flippableFiles, MOMENTS } from './flip.ts'
import { Trial } from './trial.ts'
import { type Images, imagesIn, makeImages } from './whole-store.ts'

const KINDS = [
  'HEAD',
  'changes of a snapshot',
  'cold segment',
  'key file',
  'locks of rows',
  'open segment',
  'payload file',
  'record hashes',
  'rows',
  'sealed segment',
  'snapshot',
  'sums of rows',
  'tree of bundles',
  'tree of the log',
  'volume',
]

const directory = mkdtempSync(join(tmpdir(), 'object-store-flips-'))
await makeImages(directory)
const images = imagesIn(directory)

function tried(flip: Flip, number: number, of: Images = images) {
  return new Trial(of, join(directory, 'store'), flip, number).run()
}

test('a flip of each kind of file is named, undone or without an effect', async (t) => {
  const files = flippableFiles(images.stopped)
  const kinds = new Set(files.map(({ kind }) => kind))
  for (const kind of KINDS) t.ok(kinds.has(kind), `the store has a ${kind}`)
  for (const [index, kind] of KINDS.entries()) {
    const ofKind = files.filter((file) => file.kind === kind)
    const flip = chooseFlip(ofKind, index % 2 === 0 ? 'stopped' : 'running', new Random(index))
    const { verdict, wrong } = await tried(flip, index)
    t.not(verdict, 'wrong', `${kind}: ${wrong.join()}`)
  }
})

test('chance chooses every kind and moment, and the same by the same seed', (t) => {
  const files = flippableFiles(images.stopped)
  const chosen = (seed: number) => chooseFlip(files, new Random(seed).of(MOMENTS), new Random(seed))
  const flips = Array.from({ length: 400 }, (_, seed) => chosen(seed))
  t.same(new Set(flips.map(({ moment }) => moment)), new Set(MOMENTS))
  for (const kind of KINDS)
    t.ok(
      flips.some((flip) => flip.kind === kind),
      kind,
    )
  t.same(chosen(7), flips[7])
  t.end()
})

test('a store that answers otherwise than it should is found out', async (t) => {
  const { known } = images
  const [first] = known.objects.filter(({ isCurrent }) => isCurrent)
  if (first === undefined) throw new Error('a store without objects')
  const file = flippableFiles(images.stopped).find(({ kind }) => kind === 'key file')
  const flip: Flip = { moment: 'stopped', kind: 'key file', file: file?.file ?? '', position: 30, bit: 1 }
  const others: Readonly<Record<string, Images['known']>> = {
    'other bytes': { ...known, objects: known.objects.map((one) => (one === first ? { ...one, sha256: '00' } : one)) },
    'not found': { ...known, objects: [...known.objects, { ...first, key: 'never-written' }] },
    'that are not there': { ...known, objects: known.objects.filter((one) => one !== first) },
    'which is locked': { ...known, locked: known.objects.find(({ bucket }) => bucket === 'versioned') ?? first },
  }
  for (const [text, told] of Object.entries(others)) {
    const { verdict, wrong } = await tried(flip, 1, { ...images, known: told })
    t.equal(verdict, 'wrong')
    t.match(wrong.join('\n'), text)
  }
})

tap.teardown(() => rmSync(directory, { recursive: true, force: true }))
