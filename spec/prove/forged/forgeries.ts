/** What somebody writes into a journal or the projections who can write the files and has no key. */
import { randomBytes } from 'node:crypto'
import type { StorePaths } from '../../../engine/disk/store-paths.ts'
import { ProjectionEnvironment } from '../../../projections/lmdb-environment.ts'
import { entriesOf, type ForgedEntry, strangeEntry, writeForged } from '../../support/journals/forged-journal.ts'

export interface Forgery {
  readonly name: string
  /** Whether `journal verify` with the master key must name it; the others leave the journal as it was. */
  readonly verdict: string | undefined
  /** Alters a store at rest. */
  readonly forge: (paths: StorePaths) => Promise<void> | void
}

const TOKEN = 31
const REVOKED = 32
const CREDENTIAL = 26
const POLICY = 28
const ACCESS_FIRST = 23
const AUTHENTICATED = 35

function changesOf(entry: ForgedEntry): unknown[][] {
  return (entry.values[9] ?? []) as unknown[][]
}

/** The entries with a change of this kind. */
function withChange(entries: readonly ForgedEntry[], kind: number): ForgedEntry[] {
  return entries.filter((entry) => changesOf(entry).some(([one]) => one === kind))
}

function last(entries: readonly ForgedEntry[]): ForgedEntry {
  return entries.at(-1) as ForgedEntry
}

/** The change of a kind in the first entry that has one. */
function firstChange(entries: readonly ForgedEntry[], kind: number): unknown[] {
  const [entry] = withChange(entries, kind)
  return changesOf(entry as ForgedEntry).find(([one]) => one === kind) as unknown[]
}

/** A forgery of the journal. */
function journal(name: string, verdict: string, alter: (entries: ForgedEntry[]) => ForgedEntry[]): Forgery {
  return { name, verdict, forge: (paths) => writeForged(paths, alter(entriesOf(paths))) }
}

const UNAUTHENTICATED = 'access not authenticated'
const intruder = (role: unknown = 0): unknown[] => [TOKEN, 'intruder', 'x', role, randomBytes(32), null]

function appended(...entries: readonly ForgedEntry[]): (before: ForgedEntry[]) => ForgedEntry[] {
  return (before) => [...before, ...entries.map((entry) => ({ ...entry, time: last(before).time + 1 }))]
}

/** Alters the first change of a kind in place. */
function altered(kind: number, alter: (change: unknown[]) => void): (entries: ForgedEntry[]) => ForgedEntry[] {
  return (entries) => {
    alter(firstChange(entries, kind))
    return entries
  }
}

const changesOfOthers: readonly (readonly [name: string, change: unknown[]])[] = [
  ['more fields than there are', [2, 5, 'bucket', 1, 2, 3]],
  ['a role as a text', intruder('system-administrator')],
  ['a role that does not exist', intruder(9)],
  ['a bucket whose name is a path', [1, 5, '../../x', 'eu', false]],
  ['a region with a header in it', [1, 5, 'b', 'eu\r\nset-cookie: a', false]],
  ['a volume of no number', [19, 5, 2 ** 40, 0]],
  ['a count beyond all integers', [11, 5, 'b', 2 ** 60, null]],
  ['a retention beyond all times', [14, 5, 'k', 5, [[0, 2 ** 53 - 1], null]]],
]

/** Of a payload that lies anywhere. */
function written(bucketId: number, name: string): unknown[] {
  return [
    3,
    bucketId,
    'forged',
    5,
    'etag',
    Buffer.alloc(32),
    [],
    [],
    [2, 9999, name, 5, false],
    false,
    null,
    null,
    null,
    null,
  ]
}

const JOURNALS: readonly Forgery[] = [
  journal('a token without an attempt', 'change without its attempt', appended(strangeEntry(0, intruder()))),
  journal('a token with an attempt', UNAUTHENTICATED, (entries) => {
    const outcome = strangeEntry(0, intruder())
    const attempt = { ...outcome, kind: 4, values: [0, ...outcome.values.slice(1, 9)] }
    outcome.values[7] = entries.length + 1
    return appended(attempt, outcome)(entries)
  }),
  journal('a token with the code of another entry', UNAUTHENTICATED, (entries) => {
    const code = firstChange(entries, AUTHENTICATED)
    return appended(strangeEntry(0, intruder(), code))(entries)
  }),
  journal(
    'a token with a code of zeros',
    UNAUTHENTICATED,
    appended(strangeEntry(0, intruder(), [AUTHENTICATED, Buffer.alloc(32)])),
  ),
  journal('a revoked token issued again by its own record', UNAUTHENTICATED, (entries) =>
    appended(withChange(entries, TOKEN)[0] as ForgedEntry)(entries),
  ),
  journal('a revocation left out before other changes', UNAUTHENTICATED, (entries) => {
    const revocation = withChange(entries, REVOKED)[0] as ForgedEntry
    return entries.map((entry) =>
      entry === revocation ? { ...entry, kind: 4, values: entry.values.slice(0, 9) } : entry,
    )
  }),
  journal(
    'the role of a token changed',
    UNAUTHENTICATED,
    altered(TOKEN, (change) => (change[3] = 0)),
  ),
  journal(
    'the digest of a token changed',
    UNAUTHENTICATED,
    altered(TOKEN, (change) => (change[4] = randomBytes(32))),
  ),
  journal(
    'the statements of a policy changed',
    UNAUTHENTICATED,
    altered(POLICY, (change) => (change[3] = [[false, ['s3:*'], ['bucket:*']]])),
  ),
  journal('sealed secrets swapped', UNAUTHENTICATED, (entries) => {
    const [one, other] = withChange(entries, CREDENTIAL).map((entry) => firstChange([entry], CREDENTIAL))
    if (one === undefined || other === undefined) throw new Error('there are not two credentials')
    ;[one[4], other[4]] = [other[4], one[4]]
    return entries
  }),
  journal('every code taken away', UNAUTHENTICATED, (entries) => {
    for (const entry of entries) entry.values[9] = changesOf(entry).filter(([kind]) => kind !== AUTHENTICATED)
    return entries.map((entry) => (entry.kind === 4 ? { ...entry, values: entry.values.slice(0, 9) } : entry))
  }),
  journal('the rights of an account given again', UNAUTHENTICATED, (entries) => {
    const given = entries.filter((entry) => changesOf(entry).some(([kind]) => kind === 29))
    return appended(given[0] as ForgedEntry)(entries)
  }),
  ...['../../../../canary', '/canary', '..', `${'0'.repeat(27)}/`].map((name) =>
    journal(`a payload in the file ${name}`, 'forbidden value', (entries) => {
      const [, bucketId] = firstChange(entries, 1)
      return appended(
        strangeEntry(0, written(bucketId as number, name)),
        strangeEntry(0, [4, bucketId, 'forged', 5]),
      )(entries)
    }),
  ),
  journal('a change of an unknown kind', 'newer than this verifier', appended(strangeEntry(0, [9999, 1]))),
  ...changesOfOthers.map(([name, change]) =>
    journal(name, 'change without its attempt', appended(strangeEntry(0, change))),
  ),
]

/** Writes rows as LMDB lets everybody do. */
async function rows(paths: StorePaths, write: (environment: ProjectionEnvironment) => void): Promise<void> {
  const environment = ProjectionEnvironment.open(paths.projections, { readOnly: false })
  try {
    environment.write(() => write(environment))
  } finally {
    await environment.close()
  }
}

function projections(name: string, write: (environment: ProjectionEnvironment) => void): Forgery {
  return { name, verdict: undefined, forge: (paths) => rows(paths, write) }
}

const ACCESS_TABLES = ['accounts', 'credentials', 'policies', 'tokens', 'token-digests'] as const

const ROWS: readonly Forgery[] = [
  projections('a digest that leads to a token of somebody else', (environment) => {
    const [token] = [...environment.table('tokens').keys({})]
    environment.table('token-digests').put(randomBytes(32), token as Buffer)
  }),
  ...ACCESS_TABLES.flatMap((name) => [
    projections(`a row of ${name} altered`, (environment) => {
      const [row] = [...environment.table(name).rows({ limit: 1 })]
      const value = Buffer.from(row?.value ?? [])
      value[value.length - 1] = (value.at(-1) as number) ^ 1
      environment.table(name).put(row?.key as Buffer, value)
    }),
    projections(`a row of ${name} gone`, (environment) => {
      const [key] = [...environment.table(name).keys({ limit: 1 })]
      environment.table(name).remove(key as Buffer)
    }),
  ]),
  projections('no seal', (environment) => environment.table('access-seal').remove(Buffer.from('seal'))),
  projections('another seal', (environment) =>
    environment.table('access-seal').put(Buffer.from('seal'), randomBytes(32)),
  ),
  projections('a chain that begins again', (environment) =>
    environment.table('access-version').remove(Buffer.from('chain')),
  ),
]

/** All of them. */
export const FORGERIES: readonly Forgery[] = [...JOURNALS, ...ROWS]

/** Whether an entry changes access, for the count of what a store must have to be worth forging. */
export function accessEntries(paths: StorePaths): number {
  return entriesOf(paths).filter((entry) => changesOf(entry).some(([kind]) => (kind as number) >= ACCESS_FIRST)).length
}
