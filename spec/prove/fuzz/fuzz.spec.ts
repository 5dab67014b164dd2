/** The fuzzer finds what is planted, and every input of the corpus is judged again. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Test, test } from 'tap'
import { Random } from '../../support/random.ts'
import { CORPUS_DIRECTORY, keepInput, readCorpus, targetOfFile } from './corpus.ts'
import { type FuzzResult, fuzz } from './fuzz.ts'
import { Heartbeat, Watchdog } from './heartbeat.ts'
import { InputSource } from './input-source.ts'
import { TARGETS as PLANTED } from './planted-targets.ts'
import { INPUT_BYTES_MAXIMUM, longestOf, mustBeSame, WrongAnswerError } from './target.ts'
import { TARGETS } from './targets.ts'

interface Found {
  readonly result: FuzzResult
  readonly lines: readonly string[]
  readonly directory: string
}

async function fuzzPlanted(t: Test): Promise<Found> {
  const lines: string[] = []
  const directory = t.testdir()
  const result = await fuzz({
    module: new URL('./planted-targets.js', import.meta.url).href,
    targets: PLANTED.map(({ name }) => name),
    seed: 1,
    millisecondsPerTarget: 0,
    inputsMinimum: 5000,
    corpus: new Map(),
    corpusDirectory: directory,
    say: (line) => lines.push(line),
  })
  return { result, lines, directory }
}

test('a crash, a hang, an invalid input that is accepted and a thread that ends are found and kept', async (t) => {
  const { result, lines, directory } = await fuzzPlanted(t)
  const { crash, hang, accepted } = result.broken
  t.ok(crash >= 2, 'the exception and the end of the thread')
  t.equal(hang, 1)
  t.ok(accepted >= 1)
  t.ok(result.inputs > PLANTED.length)
  const inputOf = (name: string): string => {
    const file = readdirSync(directory).find((each) => each.startsWith(`planted-${name}-`))
    return file === undefined ? 'nothing was kept' : readFileSync(join(directory, file), 'latin1')
  }
  t.equal(inputOf('crash'), '%', 'without what does not matter')
  t.match(inputOf('hang'), /^\//)
  t.match(inputOf('exit'), '-')
  t.ok(lines.some((line) => line.startsWith('planted-crash: crash: RangeError: a percent sign')))
  t.ok(lines.some((line) => /^planted-hang: hang: .*processor time/.test(line)))
  t.ok(lines.some((line) => line.includes('build/spec/prove/fuzz/replay.js')))
  t.same(
    result.lacking.map((line) => line.split(' ').slice(0, 2).join(' ')),
    ['planted-hang was', 'planted-exit was', 'planted-deaf accepted', 'planted-credulous refused'],
    'and what proves nothing is said',
  )
})

test('the same seed makes the same inputs', async (t) => {
  const [target] = PLANTED
  const inputs = (seed: number): Buffer[] => {
    const source = new InputSource(target!, new Random(seed), [Buffer.from('77')])
    return Array.from({ length: 500 }, () => source.next())
  }
  t.same(inputs(5), inputs(5))
  t.not(Buffer.concat(inputs(5)).equals(Buffer.concat(inputs(6))), true)
  t.ok(inputs(7).every(({ length }) => length <= longestOf(target!)))
})

test('a thread that has ended is not stuck, and nothing breaks that looks at it', (t) => {
  const heartbeat = new Heartbeat()
  t.equal(heartbeat.processorSeconds, undefined, 'before it began')
  heartbeat.begin()
  t.type(heartbeat.processorSeconds, 'number')
  // No kernel gives a thread this number (proc(5), pid_max).
  new Int32Array(heartbeat.memory, 0, 4)[3] = 2 ** 31 - 1
  t.equal(heartbeat.processorSeconds, undefined)
  t.equal(new Watchdog(heartbeat).stuck(), undefined)
  t.end()
})

test('names of the corpus', async (t) => {
  const directory = t.testdir()
  const path = keepInput(directory, 'http-date', Buffer.from('x'))
  t.equal(targetOfFile(path.split('/').at(-1) as string), 'http-date')
  t.same([...readCorpus(directory)], [['http-date', [Buffer.from('x')]]])
  t.throws(() => targetOfFile('README'))
})

test('what JSON would take for the same is told apart', async (t) => {
  for (const [left, right] of [
    [undefined, null],
    [Number.NaN, null],
    [1n, 1],
    [new Map([['a', 1]]), new Map()],
    [Buffer.of(1), Buffer.of(2)],
  ]) {
    t.throws(() => mustBeSame(left, right, 'a'), WrongAnswerError)
    t.doesNotThrow(() => mustBeSame(left, left, 'a'))
  }
})

test('the table of targets', async (t) => {
  const names = TARGETS.map(({ name }) => name)
  t.equal(new Set(names).size, names.length)
  t.ok(names.every((name) => /^[a-z0-9-]+$/.test(name)))
  t.ok(TARGETS.every((target) => longestOf(target) <= INPUT_BYTES_MAXIMUM))
  const corpus = [...readCorpus(CORPUS_DIRECTORY).keys()]
  t.same(
    corpus.filter((name) => !names.includes(name)),
    [],
    'every input of the corpus is for one of them',
  )
})
