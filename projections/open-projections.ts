import type { Milliseconds, Sequence } from '../engine/brands.ts'
import { join } from 'node:path'
import { type Disk, isDiskFull } from '../engine/disk/disk.ts'
import type { StorePaths } from '../engine/disk/store-paths.ts'
import { StartStoppedError } from '../engine/errors.ts'
import { damagedNoteOf, notedDamage } from './damaged-note.ts'
import { DATA_FILE } from './lmdb-environment.ts'
import {
  dropReplaced,
  finishSwitch,
  noteMade,
  removeOldNext,
  removeOldPrepared,
  resumeNext,
  takePrepared,
} from './next-projections.ts'
import { ENDS_MAXIMUM, endsSoon, noteStart } from './starts-note.ts'
import { restoreChain, type RestoredChain } from './snapshots/restore-chain.ts'
import type { RefusedSnapshot } from './snapshots/restore-snapshot.ts'
import { type Chain, chains } from './snapshots/snapshot-chain.ts'
import type { Pace } from './steady-pace.ts'
import { stopFault } from './stop-sums.ts'
import { type Fault, type Look, type Opening, noting, openingNoteOf, otherFault, tryOpen } from './try-open.ts'

/** Projections opened for writing. */
export interface OpenedProjections extends Opening {
  /** Why the existing projections cannot be used, if they cannot; for the log. */
  readonly discarded: string | undefined
  /** Name of the last file of snapshots that they were made from, if they were. */
  readonly snapshot: string | undefined
  readonly refusedSnapshots: readonly RefusedSnapshot[]
  /** They are new, and must replace the old ones when they have the whole journal (`next-projections.ts`). */
  readonly beside: { readonly keepsReplaced: boolean } | undefined
}

/** A start's knowledge about the projections before it opens them. */
export interface ProjectionsBefore {
  readonly bootId: string
  readonly hasJournal: boolean
  /** Why they cannot be trusted, if so. */
  readonly distrusted: string | undefined
  /** Whether the mark records a clean stop: then they must survive a power cut at once. */
  readonly wasClean: boolean
  /** The time of day. */
  readonly now: Milliseconds
  /** Asked again and again while rows are made: whether to stop. */
  readonly stopAsked?: (() => boolean) | undefined
  /**
   * Of this deployment, when they are known; `rowKey` authenticates rows of access. Without them rows of access are not
   * examined, and no snapshot is used.
   */
  readonly identity: { readonly rowKey: Uint8Array; readonly deploymentId: string } | undefined
}

/** Of a start: 10 ms. */
const ROWS_READ_MAXIMUM = 20_000

/**
 * Opens the projections. They are not used when they cannot be trusted: after a power cut, when LMDB cannot read them, when a row
 * of them is damaged, when their layout is of an earlier version, when their rows of access are forged. New ones are then
 * made in another directory, from the newest snapshot that passes every check, or from nothing, and replay brings these up to the
 * journal (J14). After a damaged row, which may have come from a snapshot, every row of a snapshot is read.
 * @throws ProjectionsNewerError when their layout is of a later version: they are left as they are
 * @throws StartStoppedError
 */
export async function openProjections(
  disk: Disk,
  paths: StorePaths,
  before: ProjectionsBefore,
): Promise<OpenedProjections> {
  finishSwitch(disk, paths)
  removeUnfinished(disk, paths)
  const inPlace = await openInPlace(disk, paths, before)
  // Of a process that was killed behind its switch: this one must not take that back when it fails.
  await dropReplaced(disk, paths)
  if (inPlace === undefined || 'fault' in inPlace) return openBeside(disk, paths, before, inPlace)
  disk.remove(paths.projectionsSums)
  removeOldNext(disk, paths)
  await removeOldPrepared(disk, paths)
  return { ...inPlace, discarded: undefined, snapshot: undefined, refusedSnapshots: [], beside: undefined }
}

/** Undefined without projections, but for a new store: it gets empty ones. */
async function openInPlace(
  disk: Disk,
  paths: StorePaths,
  before: ProjectionsBefore,
): Promise<Opening | Fault | undefined> {
  const { projections } = paths
  const look = { rowKey: before.identity?.rowKey, rowsMaximum: ROWS_READ_MAXIMUM }
  if (!disk.exists(projections)) return before.hasJournal ? undefined : tryOpen(disk, projections, look)
  const damaged = notedDamage(disk, paths)
  const ends = before.wasClean ? 0 : endsSoon(disk, paths, before.now)
  noteStart(disk, paths, before.now, ends)
  const fault =
    before.distrusted ??
    (damaged === undefined ? undefined : `a row of them was found damaged: ${damaged}`) ??
    (before.wasClean ? await stopFault(disk, paths) : undefined) ??
    (disk.exists(paths.projectionsOpening) ? 'opening them ended the process' : undefined) ??
    (ends > ENDS_MAXIMUM ? `${ends} processes in a row ended soon after they had opened them` : undefined)
  return fault === undefined ? tryOpen(disk, projections, look) : otherFault(fault)
}

/** Continues the new projections of an earlier start, or makes some. */
async function openBeside(
  disk: Disk,
  paths: StorePaths,
  before: ProjectionsBefore,
  fault: Fault | undefined,
): Promise<OpenedProjections> {
  const { bootId, identity } = before
  const discarded = fault?.fault
  const beside = { keepsReplaced: fault?.of === 'layout' }
  const directory = paths.projectionsNext
  const resumed = identity && (await resume(disk, paths, bootId, identity.rowKey))
  if (resumed !== undefined) return { ...resumed, discarded, snapshot: undefined, refusedSnapshots: [], beside }
  disk.removeTree(directory)
  if (fault !== undefined && !beside.keepsReplaced) makeRoom(disk, paths)
  const [endedProcess, hasDamage] = [openingNoteOf, damagedNoteOf].map((noteOf) =>
    [paths.projections, directory].some((about) => disk.exists(noteOf(about))),
  )
  const refusedSnapshots: RefusedSnapshot[] = []
  const rowsMaximum = hasDamage ? Number.POSITIVE_INFINITY : ROWS_READ_MAXIMUM
  // They may come from a snapshot: a snapshot that ends the process must not do so at every start.
  const restored = endedProcess ? undefined : await openSnapshot(disk, paths, before, rowsMaximum, refusedSnapshots)
  const opened = restored ?? (await tryOpen(disk, directory, undefined))
  if ('fault' in opened) throw new Error(`new projections cannot be opened: ${opened.fault}`)
  noteMade(disk, directory, { bootId, isDurable: false })
  // Only now: a start that is cut short reads every row as well. What they are made again from must not be thrown away for the note.
  disk.remove(damagedNoteOf(directory))
  return { snapshot: undefined, ...opened, discarded, refusedSnapshots, beside }
}

/** The new projections of an earlier start; without any, prepared ones. */
async function resume(disk: Disk, paths: StorePaths, bootId: string, rowKey: Uint8Array): Promise<Opening | undefined> {
  const resuming = { bootId, rowKey, rowsMaximum: ROWS_READ_MAXIMUM }
  const own = await resumeNext(disk, paths.projectionsNext, resuming)
  if (own !== undefined && !('fault' in own)) return own
  if (!(await takePrepared(disk, paths))) return undefined
  const prepared = await resumeNext(disk, paths.projectionsNext, resuming)
  return prepared === undefined || 'fault' in prepared ? undefined : prepared
}

/** Removes projections that no program would use, where the disk may not hold new ones as large at the same time. */
function makeRoom(disk: Disk, { root, projections }: StorePaths): void {
  const bytes = disk.sizeOf(join(projections, DATA_FILE))
  if (disk.space(root).availableBytes < 2 * bytes) disk.removeTree(projections)
}

/**
 * Removes the remains of an interrupted rebuild, check, start or snapshot, which may be as large as the projections.
 */
function removeUnfinished(disk: Disk, paths: StorePaths): void {
  const { projectionsRebuild, projectionsCheck, projectionsFollower, projectionsRestore } = paths
  for (const aside of [projectionsRebuild, projectionsCheck, projectionsFollower, projectionsRestore]) {
    if (disk.exists(aside)) disk.removeTree(aside)
  }
  disk.remove(paths.snapshotMaking)
}

/**
 * Makes the projections from the newest snapshot that can be used, and the changes after it. The last one is copied, so that the next power cut finds
 * one as well; before that, its file is moved, which takes no longer than to read it.
 */
async function openSnapshot(
  disk: Disk,
  paths: StorePaths,
  before: ProjectionsBefore,
  rowsMaximum: number,
  refused: RefusedSnapshot[],
): Promise<(Opening & { readonly snapshot: string }) | undefined> {
  const { identity, stopAsked, wasClean: isDurable } = before
  if (identity === undefined) return undefined
  for (const chain of waysToRestore(disk, paths)) {
    const { whole, isKept } = chain
    if (!disk.exists(whole.path)) continue
    const opened = await tryRestore(
      disk,
      paths,
      chain,
      { ...identity, isKept, isDurable, rowsMaximum, stopAsked },
      refused,
    )
    if (!('fault' in opened)) return opened
    // Its digests are right, so no later start would see the damage without reading every row.
    if (opened.of === 'rows') disk.remove(whole.path)
    for (const directory of [paths.projectionsRestore, paths.projectionsNext]) disk.removeTree(directory)
  }
  return undefined
}

/** Each chain, the newest first, and without its changes, in case these lead to rows that cannot be used. */
function waysToRestore(disk: Disk, paths: StorePaths): readonly (Chain & { readonly isKept: boolean })[] {
  const all = chains(disk, paths)
  return all.flatMap((chain) => {
    const isKept = chain === all.at(-1)
    const alone = { whole: chain.whole, changes: [], sequence: chain.whole.sequence }
    return (chain.changes.length > 0 ? [chain, alone] : [chain]).map((way) => ({ ...way, isKept }))
  })
}

interface Restoring {
  readonly deploymentId: string
  /** Whether the snapshot is copied, not moved. */
  readonly isKept: boolean
  readonly isDurable: boolean
  readonly stopAsked: ProjectionsBefore['stopAsked']
}

/** At full speed, until the start is to stop. @throws StartStoppedError */
function untilStopped(stopAsked: ProjectionsBefore['stopAsked']): Pace {
  const look = () => {
    if (stopAsked?.() === true) throw new StartStoppedError()
  }
  return { moved: look, worked: look }
}

async function tryRestore(
  disk: Disk,
  paths: StorePaths,
  chain: Chain,
  { rowKey, rowsMaximum, deploymentId, isKept, isDurable, stopAsked }: Look & Restoring,
  refused: RefusedSnapshot[],
): Promise<(Opening & { readonly snapshot: string }) | Fault> {
  const refuse = (name: string, reason: string) => {
    if (!refused.some((known) => known.name === name)) refused.push({ name, reason })
  }
  const directory = paths.projectionsRestore
  let restored: RestoredChain
  try {
    // The next start looks for this note: it uses no snapshot then.
    const opening = <T>(work: () => Promise<T>) => noting(disk, paths.projectionsNext, work)
    const target = { deploymentId, directory, isDurable, isMoved: !isKept, opening }
    restored = await restoreChain(disk, paths, chain, target, { pace: untilStopped(stopAsked), reservedBytes: 0 })
  } catch (error) {
    if (!isDiskFull(error)) throw error
    refuse(chain.whole.name, 'the disk is full')
    return otherFault('the disk is full')
  }
  for (const { name, reason } of restored.refused) refuse(name, reason)
  const { name, sequence, fault } = restored
  const opened =
    fault === undefined
      ? await openRestored(disk, paths, sequence, { rowKey, rowsMaximum }, isDurable)
      : otherFault(fault)
  if (!('fault' in opened)) return { ...opened, snapshot: name }
  // Damaged rows were in the whole snapshot: changes are written with the sums of their rows.
  refuse(opened.of === 'rows' ? chain.whole.name : name, opened.fault)
  return opened
}

async function openRestored(
  disk: Disk,
  paths: StorePaths,
  sequence: Sequence,
  look: Look,
  isDurable: boolean,
): Promise<Opening | Fault> {
  // Half of a copy must never have the name that a start trusts after `kill -9`.
  disk.rename(paths.projectionsRestore, paths.projectionsNext)
  if (isDurable) disk.syncDirectory(paths.root)
  const opened = await tryOpen(disk, paths.projectionsNext, look)
  if ('fault' in opened || opened.state.applied()?.sequence === sequence) return opened
  await opened.environment.close()
  return otherFault('its rows are of another position than its name says')
}
