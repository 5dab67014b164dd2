import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { accessNotes } from './access-check.ts'
import {
  type CheckpointFindings,
  checkCheckpoints,
  type KeptCheckpoint,
  type Since,
} from './checkpoints/checkpoint-check.ts'
import { plainSegmentBytes } from './cold/segment-source.ts'
import { isSegmentName, sequenceInName } from './format-reader.ts'
import { type HeadMark, readHeadMark } from './head-mark.ts'
import { type JournalFiles, REAL_FILES } from './journal-files.ts'
import { newerFrom, type NewerKind, NewerKinds } from './newer-kinds.ts'
import { linkSegments } from './segment-links.ts'
import { verifySegments } from './threads/segment-pool.ts'
import type { SegmentResult, TornTail } from './segment-result.ts'
import { type Problem, ProblemList } from './verdicts.ts'

/** A record that must be in the journal with a known hash. */
export interface ExpectedHead {
  readonly sequence: number
  /** In lower-case hexadecimal. */
  readonly hash: string
}

/** How far a verification has come. */
interface VerificationProgress {
  readonly bytes: number
  /** Length of the segments, not compressed: an open segment's is more than its data. */
  readonly bytesTotal: number
  readonly records: number
}

export interface VerificationOptions {
  /** Threads that verify segments; 0 uses the calling thread. Default: one for each core. */
  readonly threads?: number
  readonly onProgress?: (progress: VerificationProgress) => void
  /** First sequence of the segment to begin with. Segments before it are trusted. Default: the whole journal. */
  readonly fromSegment?: number
  /** A record that the caller knows from elsewhere; the journal must hold it. */
  readonly expectedHead?: ExpectedHead
  /** Set: changes of access are checked. 32 bytes. */
  readonly masterKey?: Uint8Array
  /** A checkpoint that the caller has kept elsewhere: the journal must extend it. */
  readonly checkpoint?: KeptCheckpoint
  /** A verification that ended at a checkpoint: only the records from its segment on are read. */
  readonly since?: Since
  /** How long to wait before a batch that looks torn is read again, in case it is being written. Default 50. */
  readonly settleMilliseconds?: number
  /** Where the files are, when not in the file system; only without threads. */
  readonly files?: JournalFiles
}

/** The outcome of a verification. */
export interface VerificationReport {
  /** True when there is no problem, and nothing that this verifier does not know. */
  readonly intact: boolean
  /** Records of kinds that this verifier does not know: without a problem, a newer version wrote the journal. */
  readonly newer: readonly NewerKind[]
  /** In hexadecimal; undefined when neither the genesis nor a segment header could be read. */
  readonly deploymentId: string | undefined
  readonly segments: number
  /** Compressed segments. */
  readonly coldSegments: number
  readonly records: number
  readonly batches: number
  /** Bytes of data verified, not compressed, and without the zeros at the end of the open segment. */
  readonly bytes: number
  readonly firstSequence: number
  /** The last sequence; undefined without records. */
  readonly headSequence: number | undefined
  /** Hash of the last record in hexadecimal; undefined when it could not be read. */
  readonly headHash: string | undefined
  /** The high-water mark. */
  readonly mark: HeadMark | undefined
  /** A batch that was never wholly written, at the end of the open segment. Not a problem. */
  readonly openSegmentTornTail: TornTail | undefined
  /** The journal's signed checkpoints. */
  readonly checkpoints: Omit<CheckpointFindings, 'notes'>
  /** The last record of the kept checkpoint, and the first sequence of its segment; undefined when it is not there. */
  readonly keptPlace: { readonly segment: number; readonly lastRecord: string } | undefined
  /** Sentences for the reader about matters that are not problems. */
  readonly notes: readonly string[]
  /** The first problems, in the order of the journal. */
  readonly problems: readonly Problem[]
  /** All problems, including unlisted ones. */
  readonly problemCount: number
}

/** There is no journal in the directory. */
export class JournalNotFoundError extends Error {
  override readonly name = 'JournalNotFoundError'
}

/** The segment from which a verification was to go on is not there. */
export class PlaceGoneError extends Error {
  override readonly name = 'PlaceGoneError'
  /** Whether the journal ends before it. */
  readonly isShorter: boolean

  constructor(segment: string, isShorter: boolean) {
    const what = isShorter
      ? 'the journal ends before it: it was rolled back'
      : 'later ones are: verify the whole journal'
    super(`${segment}, where the state goes on, is not there, and ${what}`)
    this.isShorter = isShorter
  }
}

const SETTLE_MILLISECONDS = 50

/**
 * Verifies a journal, reading only. The server may be writing it; then the report covers the journal as it was at the
 * beginning of the check, and perhaps some of the later records.
 * @throws JournalNotFoundError when the directory holds neither segment nor mark, or not the segment to begin with
 * @throws PlaceGoneError
 * @throws the system's error when something cannot be read
 */
export async function verifyJournal(
  journalDirectory: string,
  given: VerificationOptions = {},
): Promise<VerificationReport> {
  const { files = REAL_FILES, since } = given
  const options = since === undefined ? given : { ...given, fromSegment: since.state.segment }
  // The mark first: then its record is in the segments that are listed after.
  const { mark, unreadableSlots } = await readHeadMark(journalDirectory, files)
  const all = files.list(journalDirectory).filter(isSegmentName).toSorted()
  if (all.length === 0 && mark === undefined) throw new JournalNotFoundError(`no journal in ${journalDirectory}`)
  const names =
    options.fromSegment === undefined ? all : all.filter((name) => sequenceInName(name) >= (options.fromSegment ?? 0))
  if (since !== undefined) requirePlace(all, since)
  if (options.fromSegment !== undefined && sequenceInName(names[0] ?? '') !== options.fromSegment) {
    throw new JournalNotFoundError(`no segment of ${journalDirectory} begins with sequence ${options.fromSegment}`)
  }
  const { checkpoint, expectedHead } = options
  const known = [mark?.sequence, expectedHead?.sequence, lastOf(checkpoint?.size), lastOf(since?.state.size)]
  const watched = known.filter((sequence) => sequence !== undefined)
  const settleMilliseconds = options.settleMilliseconds ?? SETTLE_MILLISECONDS
  const jobs = names.map((name) => ({
    path: join(journalDirectory, name),
    name,
    isLast: name === names.at(-1),
    watched,
    settleMilliseconds,
  }))
  const report = progressReporter(
    jobs.map((job) => job.path),
    files,
    options.onProgress,
  )
  const results = await verifySegments(jobs, options.threads ?? availableParallelism(), report, files)
  return compileReport(results, jobs, options, { mark, unreadableSlots })
}

function lastOf(size: number | undefined): number | undefined {
  return size === undefined ? undefined : size - 1
}

/** @throws PlaceGoneError unless the segment is there that a verification continues from */
function requirePlace(names: readonly string[], { state: { segment } }: Since): void {
  if (names.some((name) => sequenceInName(name) === segment)) return
  const isShorter = !names.some((name) => sequenceInName(name) > segment)
  throw new PlaceGoneError(`${String(segment).padStart(16, '0')}.segment`, isShorter)
}

function progressReporter(
  paths: readonly string[],
  files: JournalFiles,
  onProgress: VerificationOptions['onProgress'],
): (bytes: number, records: number) => void {
  if (onProgress === undefined) return () => undefined
  const bytesTotal = paths.reduce((total, path) => total + plainSegmentBytes(path, files), 0)
  let bytes = 0
  let records = 0
  return (moreBytes, moreRecords) => {
    bytes += moreBytes
    records += moreRecords
    onProgress({ bytes, bytesTotal, records })
  }
}

async function compileReport(
  results: readonly SegmentResult[],
  jobs: readonly { readonly path: string }[],
  options: VerificationOptions,
  { mark, unreadableSlots }: { readonly mark: HeadMark | undefined; readonly unreadableSlots: readonly number[] },
): Promise<VerificationReport> {
  const problems = new ProblemList()
  const genesis = results.find((result) => result.genesisDeploymentId !== undefined)
  const deploymentId =
    genesis?.genesisDeploymentId ?? results.find((result) => result.header !== undefined)?.header?.deploymentId
  linkSegments(results, options.fromSegment === undefined, deploymentId, problems)
  if (mark !== undefined) compareWithKnown('HEAD', mark, results, problems)
  if (options.expectedHead !== undefined) compareWithKnown('the caller', options.expectedHead, results, problems)
  if (options.since !== undefined) compareWithState(options.since, results, problems)
  const newer = newerOf(results)
  const knownUntil = newerFrom(newer)
  joinAttempts(results, { from: options.fromSegment ?? 0, knownUntil }, problems)
  const access = accessNotes(results, deploymentId, { ...options, knownUntil }, problems)
  const { notes, ...checkpoints } = await checkCheckpoints(
    results.map((result, index) => ({ result, path: jobs[index]?.path ?? '' })),
    {
      kept: options.checkpoint,
      since: options.since,
      isWhole: options.fromSegment === undefined,
      knownUntil,
      threads: options.threads ?? availableParallelism(),
      files: options.files,
    },
    problems,
  )
  const last = results.at(-1)
  const sum = (count: (result: SegmentResult) => number): number =>
    results.reduce((total, result) => total + count(result), 0)
  return {
    intact: problems.count === 0 && newer.length === 0,
    newer,
    deploymentId,
    segments: results.length,
    coldSegments: results.filter(({ isCold }) => isCold).length,
    records: sum((result) => result.records),
    batches: sum((result) => result.batches),
    bytes: sum((result) => result.bytes),
    firstSequence: results[0]?.firstSequence ?? 0,
    headSequence: last === undefined || last.nextSequence === 0 ? undefined : last.nextSequence - 1,
    headHash: last?.lastHash,
    mark,
    openSegmentTornTail: last?.tornTail,
    checkpoints,
    keptPlace: placeOf(lastOf(options.checkpoint?.size), results),
    notes: [...notesAboutMark(mark, unreadableSlots), ...access, ...notes, ...notesAboutPrincipals(results)],
    problems: problems.kept,
    problemCount: problems.count,
  }
}

function newerOf(results: readonly SegmentResult[]): readonly NewerKind[] {
  const kinds = new NewerKinds()
  for (const kind of results.flatMap(({ newer }) => newer)) kinds.add(kind)
  return kinds.all
}

/** Compares the journal with a record that is known from elsewhere. */
function compareWithKnown(
  source: string,
  known: ExpectedHead & { readonly batchNumber?: number },
  results: readonly SegmentResult[],
  problems: ProblemList,
): void {
  const last = results.at(-1)
  const nextSequence = last?.nextSequence ?? 0
  if (known.sequence >= nextSequence) {
    const detail = `${source} knows sequence ${known.sequence} as durable; the journal ends before ${nextSequence}`
    const place = { segment: last?.name ?? 'HEAD', offset: last?.bytes ?? 0, sequence: nextSequence }
    return problems.add({ ...place, verdict: 'acknowledged entries lost', detail })
  }
  for (const { name, found } of results) {
    const record = found.find((candidate) => candidate.sequence === known.sequence)
    if (record === undefined) continue
    const place = { segment: name, offset: record.offset, sequence: known.sequence }
    if (record.hash !== known.hash) {
      const detail = `${source} knows this record with the hash ${known.hash}; it has ${record.hash}`
      problems.add({ ...place, verdict: 'content changed', detail })
    } else if (known.batchNumber !== undefined && known.batchNumber !== record.batchNumber) {
      const detail = `${source} knows this record in batch ${known.batchNumber}; it is in batch ${record.batchNumber}`
      problems.add({ ...place, verdict: 'damaged batch', detail })
    }
  }
}

/** Whether the record is there to which an earlier verification came: its hash covers all records before it. */
function compareWithState({ state }: Since, results: readonly SegmentResult[], problems: ProblemList): void {
  const last = results.at(-1)
  const sequence = state.size - 1
  const nextSequence = last?.nextSequence ?? 0
  if (nextSequence <= sequence) {
    const place = { segment: last?.name ?? 'HEAD', offset: last?.bytes ?? 0, sequence: nextSequence }
    const detail = `the checkpoint to go on from covers ${state.size} records; the journal has ${nextSequence}`
    return problems.add({ ...place, verdict: 'rolled back behind a checkpoint', detail })
  }
  const found = results.flatMap(({ name, found: records }) => records.map((record) => ({ ...record, segment: name })))
  const record = found.find((candidate) => candidate.sequence === sequence)
  if (record === undefined || record.hash === state.lastRecord) return
  const detail = `the checkpoint to go on from ends with the record ${state.lastRecord}; here it is ${record.hash}`
  const { segment, offset } = record
  problems.add({ segment, offset, sequence, verdict: 'rewritten since a checkpoint', detail })
}

function placeOf(sequence: number | undefined, results: readonly SegmentResult[]): VerificationReport['keptPlace'] {
  for (const { firstSequence, found } of results) {
    const record = found.find((candidate) => candidate.sequence === sequence)
    if (record !== undefined) return { segment: firstSequence, lastRecord: record.hash }
  }
  return undefined
}

function notesAboutMark(mark: HeadMark | undefined, unreadableSlots: readonly number[]): string[] {
  if (mark === undefined) {
    const what = unreadableSlots.length === 0 ? 'There is no high-water mark' : 'The high-water mark cannot be read'
    return [`${what}, so entries lost from the end of the journal cannot be noticed.`]
  }
  const about = mark.refusesNext
    ? [
        `HEAD says that the batch after sequence ${mark.sequence} was refused: if it is there, it is cut off at the next start.`,
      ]
    : []
  return [...about, ...unreadableSlots.map((slot) => `Slot ${slot} of HEAD cannot be read; the other one counts.`)]
}

/**
 * Finds attempts in earlier segments than their changes, as long uploads have.
 * @param range `from`: first sequence that is examined; `knownUntil`: the first that may be an attempt and is not known
 */
function joinAttempts(
  results: readonly SegmentResult[],
  { from, knownUntil }: { readonly from: number; readonly knownUntil: number },
  problems: ProblemList,
): void {
  const open = new Map<number, number>()
  for (const { name: segment, distantChanges, openAttempts } of results) {
    for (const { sequence, offset, intent, fingerprint } of distantChanges) {
      if (intent < from || intent >= knownUntil || open.get(intent) === fingerprint) continue
      const detail = `the attempt ${intent} that it names is not there, or is of another request`
      problems.add({ segment, offset, sequence, verdict: 'change without its attempt', detail })
    }
    for (const { sequence, fingerprint } of openAttempts) open.set(sequence, fingerprint)
  }
}

/** Starts, stops and other changes by the system itself belong to it, whatever the entry says. */
function notesAboutPrincipals(results: readonly SegmentResult[]): string[] {
  const count = results.reduce((sum, { otherPrincipals }) => sum + otherPrincipals, 0)
  return count === 0 ? [] : [`${count} changes that the system makes by itself carry another principal.`]
}
