/** What each reader makes of one flipped byte, kind of file by kind of file. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { microsecondsOf, sequenceOf } from '../../../engine/brands.ts'
import { nodeDisk } from '../../../engine/disk/node-disk.ts'
import type { StorePaths } from '../../../engine/disk/store-paths.ts'
import { encodeEntry } from '../../../engine/events/entry-codec.ts'
import { writeRestoreNote } from '../../../engine/journal/recovery/restore-note.ts'
import { keepUnrecorded } from '../../../engine/journal/recovery/unrecorded.ts'
import { ProjectionEnvironment } from '../../../projections/lmdb-environment.ts'
import { TABLES } from '../../../projections/tables/table-list.ts'
import { auditOf } from '../commands.ts'
import { flipByteInPlace, segmentPath } from '../journal-files.ts'
import type { Readings } from './readers.ts'
import { SMALL } from './store-of-every-file.ts'

type Place = readonly [path: string, offset: number]

export interface DamageCase {
  /** Of the file, in the list of kinds. */
  readonly kind: string
  readonly what: string
  readonly at: (paths: StorePaths) => Place | Promise<Place>
  /** Before a server starts, or under one that runs. */
  readonly when: 'stopped' | 'running'
  /** The name of the error of the start, or why it threw projections or a snapshot away; `opens` unless told otherwise. */
  readonly start?: string | RegExp
  /** Where the readers differ from those of a whole store. */
  readonly differs?: Partial<Readings>
  /** Exit code of `projections check` before that start; 0 unless told otherwise. */
  readonly check?: number
  /** What a start after a server that ran makes of it; `opens` unless told otherwise. */
  readonly again?: string
  /** Why no reader names it today. */
  readonly unseen?: string
}

function onlyFile(directory: string): string {
  const [found] = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((each) => each.isFile())
  if (found === undefined) throw new Error(`${directory} has no file`)
  return join(found.parentPath, found.name)
}

/** A byte after the first place where a file has this text. */
function inside(path: string, text: Buffer | string, after: number): Place {
  const at = readFileSync(path).indexOf(text)
  if (at < 0) throw new Error(`${path} does not have it`)
  return [path, at + after]
}

const segment = (index: number, offset: number) => (paths: StorePaths) => [segmentPath(paths, index), offset] as const
const record = (index: number) => (paths: StorePaths) => inside(segmentPath(paths, index), 'damaged/object-', 0)
const tree = (name: string, offset: number) => (paths: StorePaths) =>
  [join(paths.projections, 'trees', name), offset] as const
const volume = (paths: StorePaths) => join(paths.volumes, '0000000000.volume')
const rows = (paths: StorePaths) => join(paths.projections, 'data.mdb')

/** A byte of the key of a row about an object: pages that are no longer in use have copies of it. */
async function keyOfObject(paths: StorePaths): Promise<Place> {
  const path = rows(paths)
  const bytes = readFileSync(path)
  for (let at = bytes.indexOf('small'); at >= 0; at = bytes.indexOf('small', at + 1)) {
    flipByteInPlace(path, at + 1)
    const environment = ProjectionEnvironment.open(paths.projections, { readOnly: true })
    const isThere = [...environment.rawTable(TABLES.objects).keys({})].some((key) => key.includes('small'))
    await environment.close()
    flipByteInPlace(path, at + 1)
    if (!isThere) return [path, at + 1]
  }
  throw new Error(`${path} has no row of the object`)
}

/** Records of answered requests that the journal could not take, left by the process before. */
function unrecorded(paths: StorePaths): Place {
  const body = Buffer.from(encodeEntry(auditOf('s3:GET', 'bucket:damaged'), 'success', undefined, []))
  keepUnrecorded(nodeDisk, paths, sequenceOf(1), microsecondsOf(1), [body])
  return [paths.unrecorded, 30]
}

/** The note of a restore, left by `restore`. */
function restoreNote(paths: StorePaths): Place {
  const note = {
    last: sequenceOf(10),
    head: Buffer.alloc(32, 7),
    backedUp: microsecondsOf(1),
    restored: microsecondsOf(2),
  }
  writeRestoreNote(nodeDisk, paths, note)
  return [paths.restored, 3]
}

const NAMED = { verify: 21, show: 21, doctor: 7, backup: 21, chain: 21, status: 21 } as const
/** A batch that cannot be read: all that comes to it says so, and shows what is around it. */
const ONE_BATCH = { ...NAMED, query: 21, exported: 21, events: 21, stream: 'names damage' } as const
const LARGE_DAMAGED = { bucket: 21, large: 'ObjectDamaged' } as const
const REFUSED = 'JournalDamagedError'

const BY_THE_JOURNAL = 'nothing in it is trusted: a reader proves bytes by what the journal says of them'
const CHANGED = /their file changed since the store stopped/
const TWO_SLOTS = 'a crash may tear one of the two slots, so one alone means nothing: the other one counts'
const OUT_OF_JOURNAL = 'derived from the journal, and made again by the next start'

/** The newest file of snapshots of a kind. */
function snapshotFile(paths: StorePaths, ending: string): string {
  const names = readdirSync(paths.snapshots).filter((name) => name.endsWith(ending))
  return join(paths.snapshots, names.toSorted().at(-1) ?? '')
}

export const DAMAGE_CASES: readonly DamageCase[] = [
  // Without SPEC_FULL the first is tried and each thirteenth after it, and the last.
  {
    kind: 'segment',
    what: 'a batch of the open one',
    when: 'running',
    at: record(-1),
    differs: ONE_BATCH,
    again: REFUSED,
  },
  { kind: 'segment', what: 'a batch of the open one', when: 'stopped', at: record(-1), start: REFUSED, check: 21 },
  { kind: 'segment', what: 'a batch of a sealed one', when: 'running', at: record(-2), differs: ONE_BATCH },
  { kind: 'segment', what: 'a cold one', when: 'running', at: segment(1, 2000), differs: ONE_BATCH },
  {
    kind: 'segment',
    what: 'header of the open one',
    when: 'running',
    at: segment(-1, 20),
    differs: NAMED,
    again: REFUSED,
  },
  { kind: 'segment', what: 'header of a sealed one', when: 'running', at: segment(-2, 20), differs: NAMED },
  { kind: 'HEAD', what: 'the first slot', when: 'running', at: ({ head }) => [head, 20], unseen: TWO_SLOTS },
  {
    kind: 'volume',
    what: 'an object',
    when: 'running',
    at: (paths) => inside(volume(paths), SMALL, 5),
    differs: { bucket: 21, small: 'ObjectDamaged' },
  },
  { kind: 'HEAD', what: 'the first slot', when: 'stopped', at: ({ head }) => [head, 20], unseen: TWO_SLOTS },
  { kind: 'HEAD', what: 'the second slot', when: 'stopped', at: ({ head }) => [head, 4096 + 20], unseen: TWO_SLOTS },
  { kind: 'key file', what: 'under a server', when: 'running', at: ({ keys }) => [keys, 30], unseen: OUT_OF_JOURNAL },
  { kind: 'key file', what: 'before a start', when: 'stopped', at: ({ keys }) => [keys, 30], unseen: OUT_OF_JOURNAL },
  {
    kind: 'evidence',
    what: 'recorded',
    when: 'stopped',
    at: ({ aside }) => [onlyFile(aside), 10],
    unseen: 'no command reads it; its name and the journal have its digest',
  },
  {
    kind: 'payload file',
    what: 'bytes',
    when: 'running',
    at: ({ files }) => [onlyFile(files), 70_000],
    differs: LARGE_DAMAGED,
  },
  { kind: 'unrecorded', what: 'a record', when: 'stopped', at: unrecorded, start: REFUSED },
  {
    kind: 'rows',
    what: 'access',
    when: 'stopped',
    at: (paths) => inside(rows(paths), 'receiver.example', 1),
    start: CHANGED,
    differs: { prove: 1, tiles: 1 },
    check: 25,
  },
  { kind: 'restore note', what: 'its form', when: 'stopped', at: restoreNote, start: REFUSED },
  { kind: 'volume', what: 'its header', when: 'stopped', at: (paths) => [volume(paths), 20], unseen: BY_THE_JOURNAL },
  {
    kind: 'volume',
    what: 'the header of a frame',
    when: 'stopped',
    at: (paths) => [volume(paths), 70],
    unseen: BY_THE_JOURNAL,
  },
  {
    kind: 'payload file',
    what: 'its trailer',
    when: 'stopped',
    at: ({ files }) => [onlyFile(files), 150_040],
    differs: LARGE_DAMAGED,
  },
  {
    kind: 'record hashes',
    what: 'a hash',
    when: 'running',
    at: tree('record-hashes', 320),
    differs: { prove: 25, tiles: 25 },
  },
  { kind: 'tree of the log', what: 'a root of a tile', when: 'running', at: tree('log-1', 4), differs: { tiles: 25 } },
  {
    kind: 'tree of bundles',
    what: 'a root of a tile',
    when: 'running',
    at: tree('bundle-1', 4),
    unseen: 'only the signing of checkpoints reads it, which then derives it again, and the comparison after a scrub',
  },
  {
    kind: 'rows',
    what: 'a page that leads to others',
    when: 'stopped',
    at: (paths) => [rows(paths), 100],
    start: CHANGED,
    differs: { prove: 1, tiles: 1 },
  },
  {
    kind: 'sums of rows',
    what: 'a sum',
    when: 'stopped',
    at: ({ projectionsSums }) => [projectionsSums, 20],
    start: CHANGED,
    differs: { prove: 1, tiles: 1 },
  },
  {
    kind: 'locks of rows',
    what: 'a byte',
    when: 'stopped',
    at: ({ projections }) => [join(projections, 'lock.mdb'), 100],
    unseen: 'each start makes them again',
  },
  {
    kind: 'kept verdict',
    what: 'its text',
    when: 'stopped',
    at: ({ verified }) => [verified, 30],
    unseen: 'a start and the doctor ignore it, and say so; the verification of the readers writes it again',
  },
  {
    kind: 'note of a backup',
    what: 'its text',
    when: 'stopped',
    at: ({ backedUp }) => [backedUp, 30],
    unseen:
      'the doctor ignores it, and says so; the metrics of backups are absent until the next one, as before the first',
  },
  {
    kind: 'snapshot',
    what: 'a block',
    when: 'running',
    at: (paths) => [snapshotFile(paths, '.snapshot'), 5000],
    unseen: 'a start that needs it takes another one and says so, and a worker reads it once a day',
  },
  {
    kind: 'changes of a snapshot',
    what: 'a row',
    when: 'running',
    at: (paths) => [snapshotFile(paths, '.changes'), 200],
    unseen: 'a start that needs them goes as far as they are sound and says so, and a worker reads them once a day',
  },
  {
    kind: 'rows',
    what: 'the key of an object',
    when: 'stopped',
    at: keyOfObject,
    start: CHANGED,
    differs: { prove: 1, tiles: 1 },
    check: 25,
  },
]
