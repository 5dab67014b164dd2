import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { test } from 'tap'
import { tableWith } from '../support/pages/markdown-tables.ts'
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
const TWO = [proof('first', 'seeds'), proof('second', 'seconds')]

test('what is asked for', (t) => {
  t.match(proofRunOf(['first'], TWO, 12), { proof: { name: 'first' }, amount: 7, seed: 12 })
  t.match(proofRunOf(['second', '--seconds', '30', '--seed', '0'], TWO, 12), { amount: 30, seed: 0 })
  const same = [{ ...proof('same', 'seeds'), seed: 5 }]
  t.match([proofRunOf(['same'], same, 12), proofRunOf(['same', '--seed', '6'], same, 12)], [{ seed: 5 }, { seed: 6 }])
  t.end()
})

const WRONG: readonly (readonly [readonly string[], RegExp])[] = [
  [[], /say which/],
  [['third'], /no proof is called third/],
  [['first', 'second'], /no proof is called first second/],
  [['first', '--seconds', '3'], /--seeds, not in --seconds/],
  [['first', '--seeds', '0'], /from 1/],
  [['first', '--seeds', '1.5'], /whole number/],
  [['first', '--seeds', '99999999999'], /whole number/],
  [['first', '--seed', '-1'], /./],
  [['first', '--faster'], /--faster/],
]

test('what cannot be meant is refused', (t) => {
  for (const [words, message] of WRONG) t.throws(() => proofRunOf(words, TWO, 1), { message }, words.join(' '))
  t.throws(() => proofRunOf([], TWO, 1), UsageError)
  t.match(usage(TWO), /second {2}nothing \(--seconds 7\)/)
  t.end()
})

test('a wrong command line ends with 2 and says what there is', (t) => {
  const main = fileURLToPath(new URL('main.js', import.meta.url))
  const { status, stderr } = spawnSync(process.execPath, [main, 'no-such-proof'], { encoding: 'utf8' })
  t.equal(status, 2)
  for (const { name } of PROOFS) t.match(stderr, name)
  t.end()
})

/** What a script of `.ci` has the proofs try. */
function triedBy(script: 'run' | 'nightly') {
  const text = readFileSync(`.ci/${script}`, 'utf8')
  const lists = [...text.matchAll(/^(?:beside|meanwhile|alone)=\((.*)\)$/gm)].map(([, list]) => list ?? '')
  const commands = lists.flatMap((list) => [...list.matchAll(/'([^']*)'/g)].map(([, command]) => command ?? ''))
  const runs = commands.map((command) => {
    // `attack:node` is the attack over another HTTP driver.
    return { command, ...proofRunOf(command.replace(/^attack:node/, 'attack').split(' '), PROOFS, 1) }
  })
  const amounts = new Map(runs.map((one) => [one.proof, one.amount]))
  const seeds = [...text.matchAll(/^proofs (.*)$/gm)].map(([, seed]) => seed ?? '')
  return { runs, amounts, seeds }
}

test('.ci/run has every proof try a share, .ci/nightly all that it does without a flag, from a seed of each day', (t) => {
  const [run, nightly] = [triedBy('run'), triedBy('nightly')]
  for (const { runs, amounts } of [run, nightly]) {
    t.same(new Set(amounts.keys()), new Set(PROOFS))
    t.equal(runs.filter(({ command }) => command.startsWith('attack')).length, 2, 'over both HTTP drivers')
  }
  for (const one of run.runs) t.ok(one.amount <= one.proof.amount, one.command)
  for (const one of nightly.runs) t.ok(one.amount >= one.proof.amount, one.command)
  t.same(run.seeds, ['1'])
  t.same(nightly.seeds, ['"$(date -u +%Y%m%d)"'])
  const rows = PROOFS.map((one) => [
    `\`${one.name}\``,
    one.unit,
    String(run.amounts.get(one)),
    String(nightly.amounts.get(one)),
  ])
  t.same(tableWith('spec/prove/README.md', 'proof | counted in | `.ci/run` | `.ci/nightly`'), rows, 'the page says so')
  t.end()
})
