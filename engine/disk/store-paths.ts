import { type Sequence, sequenceOf, type VolumeNumber, volumeNumberOf } from '../brands.ts'
import { join } from 'node:path'
import { isPayloadName } from '../payloads/payload-ids.ts'

const SEQUENCE_DIGITS = 16
const VOLUME_DIGITS = 10
const SEGMENT_NAME = /^(\d{16})\.segment$/
const VOLUME_NAME = /^(\d{10})\.volume$/

/** Prefix of a cold segment's name while it is written. */
export const COMPRESSING = 'compressing-'

/** In the directory of projections: what their file was when the store stopped. */
export const SUMS_FILE = 'sums'

/** Every path of a data directory. Names come from numbers and identifiers, never from keys (S4). */
export class StorePaths {
  readonly root: string
  readonly journal: string
  readonly head: string
  readonly journalSpare: string
  readonly aside: string
  /** Records of answered requests that the journal could not take. */
  readonly unrecorded: string
  /** The key file: where the journal changes the master key. */
  readonly keys: string
  /** The same while it is written. */
  readonly keysMaking: string
  readonly payloads: string
  readonly volumes: string
  readonly volumeSpare: string
  readonly files: string
  readonly uploads: string
  readonly projections: string
  /** Exists while LMDB opens the projections, which may end the process. */
  readonly projectionsOpening: string
  /** What their file was when the store stopped. */
  readonly projectionsSums: string
  /** Exists when a row of the projections was found damaged: the next start derives them again. */
  readonly projectionsDamaged: string
  /** Projections that a start makes while the old ones stay in place; they replace these when they are complete. */
  readonly projectionsNext: string
  /** Projections that a program prepares for its first start while the one before runs, and the lock of the process that does. */
  readonly projectionsPrepared: string
  /** Projections of an earlier layout that others took the place of, until the server accepts requests. */
  readonly projectionsReplaced: string
  /** When a start last opened them, and how many processes before it ended soon after that. */
  readonly projectionsStarts: string
  /** Projections under construction, for a rebuild and for a check. */
  readonly projectionsRebuild: string
  readonly projectionsCheck: string
  /** Projections that follow the journal in the background; snapshots are copies of them. */
  readonly projectionsFollower: string
  /** Projections that are being copied from a snapshot. */
  readonly projectionsRestore: string
  readonly snapshots: string
  /** A snapshot that is being written. */
  readonly snapshotMaking: string
  readonly reserve: string
  /** Sockets of the processes that hold or want the lock. */
  readonly lock: string
  /** Sockets of running backups: while one is alive, no payload is removed. */
  readonly holds: string
  /** Work directory of a restore; a journal inside means that the restore into this directory did not finish. */
  readonly restoring: string
  /** Note that the journal was restored from a backup; removed when the next start has recorded it. */
  readonly restored: string
  /** Only in a backup: no server opens it. */
  readonly backupMark: string
  /** The last verdicts on the chain of the journal. */
  readonly verified: string
  /** The last backup of this directory. */
  readonly backedUp: string
  /** Which records name an object, a bucket or a principal, by sealed segments of the journal. */
  readonly recordIndex: string

  constructor(root: string) {
    this.root = root
    this.journal = join(root, 'journal')
    this.head = join(this.journal, 'HEAD')
    this.journalSpare = join(this.journal, 'spare')
    this.aside = join(this.journal, 'aside')
    this.unrecorded = join(this.journal, 'unrecorded')
    this.keys = join(this.journal, 'keys')
    this.keysMaking = join(this.journal, 'keys-making')
    this.payloads = join(root, 'payloads')
    this.volumes = join(this.payloads, 'volumes')
    this.volumeSpare = join(this.volumes, 'spare')
    this.files = join(this.payloads, 'files')
    this.uploads = join(this.payloads, 'tmp')
    this.projections = join(root, 'projections')
    this.projectionsOpening = `${this.projections}-opening`
    this.projectionsSums = join(this.projections, SUMS_FILE)
    this.projectionsDamaged = `${this.projections}-damaged`
    this.projectionsNext = `${this.projections}-next`
    this.projectionsPrepared = `${this.projections}-prepared`
    this.projectionsReplaced = `${this.projections}-replaced`
    this.projectionsStarts = join(this.projections, 'starts')
    this.projectionsRebuild = `${this.projections}-rebuild`
    this.projectionsCheck = `${this.projections}-check`
    this.projectionsFollower = `${this.projections}-follower`
    this.projectionsRestore = `${this.projections}-restore`
    this.snapshots = join(root, 'snapshots')
    this.snapshotMaking = join(this.snapshots, 'making')
    this.reserve = join(root, 'reserve')
    this.lock = join(root, 'lock')
    this.holds = join(root, 'holds')
    this.restoring = join(root, 'restoring')
    this.restored = join(this.journal, 'restored')
    this.backupMark = join(root, 'BACKUP')
    this.verified = join(root, 'verified')
    this.backedUp = join(root, 'backed-up')
    this.recordIndex = join(root, 'record-index')
  }

  segment(firstSequence: Sequence): string {
    return join(this.journal, segmentName(firstSequence))
  }

  /** A cold segment that is being made. `making`: a name that no other process uses, of the form of an id. */
  compressing(making: string): string {
    return join(this.journal, `${COMPRESSING}${making}`)
  }

  volume(volume: VolumeNumber): string {
    return join(this.volumes, `${String(volume).padStart(VOLUME_DIGITS, '0')}.volume`)
  }

  /** Directory of a payload file, one of 256, to keep directories small. */
  fileDirectory(name: string): string {
    return join(this.files, name.slice(-2))
  }

  /**
   * Path of a payload file. A forged row or journal must not lead out of the directory.
   * @throws RangeError when `name` is not the name of a payload file
   */
  file(name: string): string {
    if (!isPayloadName(name))
      throw new RangeError(`${JSON.stringify(name.slice(0, 100))} is not the name of a payload file`)
    return join(this.fileDirectory(name), name)
  }

  upload(name: string): string {
    return join(this.uploads, name)
  }
}

export function segmentName(firstSequence: Sequence): string {
  return `${String(firstSequence).padStart(SEQUENCE_DIGITS, '0')}.segment`
}

/** First sequence of a segment by its file name, or undefined for any other file. */
export function segmentFirstSequence(name: string): Sequence | undefined {
  const digits = SEGMENT_NAME.exec(name)?.[1]
  return digits === undefined ? undefined : sequenceOf(Number(digits))
}

/** Number of a volume by its file name, or undefined for any other file. */
export function volumeNumber(name: string): VolumeNumber | undefined {
  const digits = VOLUME_NAME.exec(name)?.[1]
  return digits === undefined ? undefined : volumeNumberOf(Number(digits))
}
