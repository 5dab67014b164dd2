import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { test } from 'tap'
import { proofRunOf, UsageError, usage } from './command-line.ts'
import type { Proof } from './proof.ts'
import { PROOFS } from './proof-list.ts'

const proof = (name: string, unit: Proof['unit']): Proof => ({
  name,
  tries: 'nothing',
  unit,
  amount: 7,
  run: async () => ({ summary: 'nothing tried', passed: false }),
})
const TWO = [proof('first', 'seeds'), proof('second', 'minutes')]

test('what is asked for', (t) => {
  t.match(proofRunOf(['first'], TWO, 12), { proof: { name: 'first' }, amount: 7, seed: 12 })
  t.match(proofRunOf(['second', '--minutes', '30', '--seed', '0'], TWO, 12), { amount: 30, seed: 0 })
  const same = [{ ...proof('same', 'seeds'), seed: 5 }]
  t.match([proofRunOf(['same'], same, 12), proofRunOf(['same', '--seed', '6'], same, 12)], [{ seed: 5 }, { seed: 6 }])
  t.end()
})

const WRONG: readonly (readonly [readonly string[], RegExp])[] = [
  [[], /say which/],
  [['third'], /no proof is called third/],
  [['first', 'second'], /no proof is called first second/],
  [['first', '--minutes', '3'], /--seeds, not in --minutes/],
  [['first', '--seeds', '0'], /from 1/],
  [['first', '--seeds', '1.5'], /whole number/],
  [['first', '--seeds', '99999999999'], /whole number/],
  [['first', '--seed', '-1'], /./],
  [['first', '--faster'], /--faster/],
]

test('what cannot be meant is refused', (t) => {
  for (const [words, message] of WRONG) t.throws(() => proofRunOf(words, TWO, 1), { message }, words.join(' '))
  t.throws(() => proofRunOf([], TWO, 1), UsageError)
  t.match(usage(TWO), /second {2}nothing \(--minutes 7\)/)
  t.end()
})

test('a wrong command line ends with 2 and says what there is', (t) => {
  const main = fileURLToPath(new URL('main.js', import.meta.url))
  const { status, stderr } = spawnSync(process.execPath, [main, 'no-such-proof'], { encoding: 'utf8' })
  t.equal(status, 2)
  for (const { name } of PROOFS) t.match(stderr, name)
  t.end()
})

test('every proof is run by .ci/run, and told of', (t) => {
  const script = readFileSync(fileURLToPath(new URL('../../../.ci/run', import.meta.url)), 'utf8')
  const told = /^for proof in (.*); do$/m.exec(script)?.[1]?.split(' ') ?? []
  const run = [...script.matchAll(/^lane ([^&\n]*)/gm)].flatMap(([, names]) => names?.trim().split(' ') ?? [])
  t.same(run.sort(), [...told].sort(), 'what is run is what is told of')
  // `attack:node` is the attack over another HTTP driver.
  const proofs = new Set(told.map((name) => name.replace(/:node$/, '')))
  t.same(
    [...proofs],
    PROOFS.map(({ name }) => name),
  )
  t.end()
})
