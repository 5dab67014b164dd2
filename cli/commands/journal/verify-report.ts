/** A verification report for people and for programs. */
import { verifierKeyText } from '../../../engine/checkpoints/checkpoint-note.ts'
import type { VerificationReport } from '../../../engine/verify/journal-verifier.ts'
import type { KeptNote } from '../../checkpoints/kept-checkpoint.ts'

/** Problems printed as text; `--json` has more. */
const PROBLEMS_SHOWN_MAXIMUM = 20

/** Printed with every result, because no check of these files alone can detect a replaced journal. */
const LIMIT =
  'Anybody who can write these files can replace the journal with another intact one: compare the head with a copy kept elsewhere (--expect-head), or verify with a checkpoint kept elsewhere (--checkpoint).'
const LIMIT_WITH_CHECKPOINT =
  'The records that the checkpoint covers are those that it was made of; for those after it compare the head with a copy kept elsewhere.'

/** Checkpoints that were kept elsewhere. */
interface KeptNotes {
  /** The journal must extend it. */
  readonly kept: KeptNote | undefined
  /** The journal was read from there on. */
  readonly before: KeptNote | undefined
}

/** The report as one line of JSON. Keys are in snake case; unknown values are null. */
export function reportAsJson(report: VerificationReport, { kept, before }: KeptNotes): string {
  const { mark, openSegmentTornTail } = report
  return JSON.stringify({
    // Neither: everything that is known is right, and the rest is not known.
    intact: isNewer(report) ? null : report.intact,
    deployment_id: report.deploymentId ?? null,
    segments: report.segments,
    cold_segments: report.coldSegments,
    records: report.records,
    batches: report.batches,
    bytes: report.bytes,
    first_sequence: report.firstSequence,
    head_sequence: report.headSequence ?? null,
    head_hash: report.headHash ?? null,
    root: report.checkpoints.root ?? null,
    since: before === undefined ? null : { origin: before.origin, size: before.size },
    mark:
      mark === undefined
        ? null
        : {
            number: mark.markNumber,
            sequence: mark.sequence,
            batch_number: mark.batchNumber,
            hash: mark.hash,
            clean_stop: mark.cleanStop,
          },
    open_segment_torn_tail: openSegmentTornTail ?? null,
    checkpoints: checkpointsRecord(report),
    kept_checkpoint: kept === undefined ? null : keptRecord(report, kept),
    notes: report.notes,
    newer: report.newer,
    problems: report.problems,
    problem_count: report.problemCount,
  })
}

/** Whether all is right that this version knows, and a newer one wrote more. */
export function isNewer({ newer, problemCount }: VerificationReport): boolean {
  return newer.length > 0 && problemCount === 0
}

function headline(report: VerificationReport): string {
  if (isNewer(report)) {
    return 'The journal is newer than this verifier: it holds what this version does not know. Everything that it knows is intact.'
  }
  if (report.intact) return 'The journal is intact.'
  return `The journal is NOT intact: ${plural(report.problemCount, 'problem')}.`
}

/** A line for each kind of record that this version does not know. */
export function newerLines({ newer }: VerificationReport): string[] {
  return newer.map(
    ({ segment, offset, sequence, what, count }) =>
      `  ${segment} offset ${offset} sequence ${sequence}: newer than this verifier: ${what}, ${plural(count, 'record')}`,
  )
}

function checkpointsRecord({ checkpoints: { count, last, handovers } }: VerificationReport): Record<string, unknown> {
  const rotations = handovers.map(({ sequence, origin, size, oldKey, newKey }) => {
    const [old_key, new_key] = [oldKey, newKey].map((publicKey) => keyOf({ origin, publicKey }))
    return { sequence, size, old_key, new_key }
  })
  if (last === undefined) return { count, last: null, handovers: rotations }
  const { sequence, size, root, origin } = last
  return { count, last: { sequence, size, root, origin, key: keyOf(last) }, handovers: rotations }
}

function keptRecord(
  { checkpoints: { extendsKept } }: VerificationReport,
  { origin, size, root, isSigned }: KeptNote,
): Record<string, unknown> {
  return { origin, size, root, extended: extendsKept ?? null, signature: isSigned ? 'passed' : 'not proved' }
}

function keyOf({
  origin,
  publicKey,
}: Pick<NonNullable<VerificationReport['checkpoints']['last']>, 'origin' | 'publicKey'>): string {
  return verifierKeyText(origin, Buffer.from(publicKey, 'hex'))
}

function checkpointLines(
  { headSequence, checkpoints: { count, last, handovers, extendsKept, root } }: VerificationReport,
  { kept, before }: KeptNotes,
): string[] {
  const lines: string[] = []
  if (before !== undefined) {
    lines.push(
      `since       the checkpoint of ${plural(before.size, 'record')} of ${before.origin}: earlier segments were not read`,
    )
  }
  if (root !== undefined) {
    const digits = Buffer.from(root, 'hex').toString('base64')
    lines.push(`root        of ${plural((headSequence ?? -1) + 1, 'record')}: ${digits}`)
  }
  if (last !== undefined) {
    lines.push(
      `checkpoints ${count.toLocaleString('en')}, the last of ${plural(last.size, 'record')}, by ${keyOf(last)}`,
    )
  }
  for (const { sequence, size, origin, oldKey, newKey } of handovers) {
    const [from, to] = [oldKey, newKey].map((publicKey) => keyOf({ origin, publicKey }))
    lines.push(`key         record ${sequence} hands over from ${from} to ${to}, after ${plural(size, 'record')}`)
  }
  if (kept === undefined) return lines
  const what = `the checkpoint of ${plural(kept.size, 'record')} of ${kept.origin}`
  if (extendsKept === true) lines.push(`extends     ${what}`)
  else lines.push(extendsKept === false ? `NOT extends ${what}` : `unknown     whether it extends ${what}`)
  if (!kept.isSigned) lines.push('note        The signature of the checkpoint was not checked: no --key was given.')
  return lines
}

/** The report in lines for a person. */
export function reportAsText(report: VerificationReport, seconds: number, notes: KeptNotes): string[] {
  const rate = Math.round(report.records / Math.max(seconds, 0.001))
  const head = report.headSequence === undefined ? 'none' : `${report.headSequence}:${report.headHash ?? 'unreadable'}`
  const tail = report.openSegmentTornTail
  const problems = report.problems
    .slice(0, PROBLEMS_SHOWN_MAXIMUM)
    .map(
      (problem) =>
        `  ${problem.segment} offset ${problem.offset} sequence ${problem.sequence}: ${problem.verdict}: ${problem.detail}`,
    )
  const more = report.problemCount - problems.length
  const cold = report.coldSegments === 0 ? '' : ` (${report.coldSegments.toLocaleString('en')} compressed)`
  return [
    headline(report),
    ...problems,
    ...(more > 0 ? [`  and ${plural(more, 'more problem')}`] : []),
    ...newerLines(report),
    '',
    `deployment  ${report.deploymentId ?? 'unknown'}`,
    `verified    ${plural(report.records, 'record')} in ${plural(report.batches, 'batch', 'batches')} and ${plural(report.segments, 'segment')}${cold}, ${rate.toLocaleString('en')} records/s`,
    `head        ${head}`,
    ...checkpointLines(report, notes),
    ...(tail === undefined
      ? []
      : [
          `note        ${tail.segment} offset ${tail.offset}: torn tail of ${plural(tail.bytes, 'byte')}, never acknowledged: ${tail.detail}`,
        ]),
    ...report.notes.map((note) => `note        ${note}`),
    '',
    report.checkpoints.extendsKept === true || notes.before !== undefined ? LIMIT_WITH_CHECKPOINT : LIMIT,
  ]
}

function plural(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString('en')} ${count === 1 ? one : many}`
}
