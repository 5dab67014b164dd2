/** Readers of a journal with a batch that cannot be read, while the disk fails under them. */
import { readFileSync } from 'node:fs'
import { microsecondsOf, sequenceOf } from '../../../engine/brands.ts'
import { AuditLog } from '../../../projections/audit/audit-log.ts'
import type { DamageList } from '../../../projections/audit/journal-damage.ts'
import { serverTurns } from '../../../projections/audit/turns.ts'
import { ProjectionEnvironment } from '../../../projections/lmdb-environment.ts'
import { write } from '../../support/commands.ts'
import { flipByteInPlace, segmentPath } from '../../support/journal-files.ts'
import { eventLogOf } from '../../support/model/event-differences.ts'
import { sampleBytes } from '../../support/sample-bytes.ts'
import type { KindOfWork } from './kinds-of-work.ts'
import type { Life } from './life.ts'

const ALL = 10_000
const EVER = { sinceMicroseconds: microsecondsOf(0), untilMicroseconds: microsecondsOf(Number.POSITIVE_INFINITY) }
const RANGE = { fromMicroseconds: EVER.sinceMicroseconds, toMicroseconds: EVER.untilMicroseconds }

/** What a reader returned: sequences, and what it says is missing. */
interface Shown {
  readonly sequences: readonly number[]
  readonly damage: DamageList
}

type Readers = Readonly<Record<string, (life: Life, environment: ProjectionEnvironment) => Promise<Shown>>>

const logOf = ({ door, paths }: Life, environment: ProjectionEnvironment) => new AuditLog(door, paths, environment)

const READERS: Readers = {
  query: async (life, environment) => {
    const { records, damage } = await logOf(life, environment).query({ ...EVER, limit: ALL }, serverTurns)
    return { sequences: records.map(({ sequence }) => sequence), damage }
  },
  'query from the end': async (life, environment) => {
    const query = { ...EVER, limit: ALL, newestFirst: true }
    const { records, damage } = await logOf(life, environment).query(query, serverTurns)
    return { sequences: records.map(({ sequence }) => sequence), damage }
  },
  events: async (life, environment) => {
    const log = eventLogOf({ ...life.store, disk: life.door }, environment)
    const { events, damage } = await log.read({ limit: ALL }, serverTurns)
    return { sequences: events.map(({ sequence }) => sequence), damage }
  },
}

/** Sequences that each reader shows of the whole journal. */
const whole = new WeakMap<Life, ReadonlyMap<string, readonly number[]>>()
const damaged = new WeakMap<Life, readonly [path: string, offset: number]>()

/** Two sealed segments and more. */
async function fillSegments(life: Life): Promise<void> {
  for (let count = 0; life.store.journal.place.segmentNumber < 2; count += 1) {
    await life.send(write('kept', `read-${count % 7}`, sampleBytes(20, count)))
  }
}

async function withRows<T>(life: Life, work: (environment: ProjectionEnvironment) => Promise<T>): Promise<T> {
  const environment = ProjectionEnvironment.open(life.paths.projections, { readOnly: true })
  try {
    return await work(environment)
  } finally {
    await environment.close()
  }
}

/** Notes what the whole journal has, and damages a batch of a sealed segment. */
async function damageJournal(life: Life): Promise<void> {
  await withRows(life, async (environment) => {
    const found = new Map<string, readonly number[]>()
    for (const [name, read] of Object.entries(READERS)) {
      found.set(name, (await read(life, environment)).sequences)
    }
    whole.set(life, found)
  })
  const path = segmentPath(life.paths, 1)
  const bytes = readFileSync(path)
  const place = [path, bytes.indexOf('kept/read-', bytes.length >> 1)] as const
  flipByteInPlace(...place)
  damaged.set(life, place)
}

/** Why an answer is not what damage, and a disk that fails, may lead to. */
export function wrongIn(
  { sequences, damage: { entries, count } }: Shown,
  expected: readonly number[],
): string | undefined {
  if (count === 0) return 'it names no damage'
  const known = new Set(expected)
  const shown = new Set(sequences)
  const isNamed = (sequence: number) => entries.some((run) => run.sequence <= sequence && sequence <= run.lastSequence)
  const missing = expected.find((sequence) => !shown.has(sequence) && !isNamed(sequence))
  if (missing !== undefined) return `it leaves out ${missing} without a word`
  const strange = sequences.find((sequence) => !known.has(sequence) || isNamed(sequence))
  return strange === undefined ? undefined : `it shows ${strange}, which cannot be read`
}

/** Each reader once; what is wrong is noted, and the byte put back. */
async function readAll(life: Life): Promise<void> {
  try {
    await withRows(life, async (environment) => {
      for (const [name, read] of Object.entries(READERS)) {
        try {
          const wrong = wrongIn(await read(life, environment), whole.get(life)?.get(name) ?? [])
          if (wrong !== undefined) life.wrong.push(`${name}: ${wrong}`)
        } catch (error) {
          life.told(error)
        }
      }
      await survey(life, environment)
    })
    await life.read('small')
  } finally {
    flipByteInPlace(...(damaged.get(life) as readonly [string, number]))
  }
}

async function survey(life: Life, environment: ProjectionEnvironment): Promise<void> {
  const expected = whole.get(life)?.get('query')?.length ?? 0
  try {
    const { count, damage: found } = await logOf(life, environment).survey(RANGE, serverTurns)
    const isRight = found.count > 0 && count < expected && count + found.records >= expected
    if (!isRight) life.wrong.push(`export: ${count} and ${found.records} that cannot be read, of ${expected}`)
    const { problems } = await logOf(life, environment).chain(sequenceOf(0), ALL)
    if (problems.length === 0) life.wrong.push('chain: it names no problem')
  } catch (error) {
    life.told(error)
  }
}

export const READING: readonly KindOfWork[] = [
  { name: 'readers of a damaged journal', setUp: fillSegments, ready: damageJournal, work: readAll },
]
