/** A verification report for people and for programs. */
import { verifierKeyText } from '../../../engine/checkpoints/checkpoint-note.ts'
import type { VerificationReport } from '../../../engine/verify/journal-verifier.ts'
import type { KeptNote } from '../../checkpoints/kept-checkpoint.ts'

/** Problems printed as text; `--json` has more. */
const PROBLEMS_SHOWN_MAXIMUM = 20

/** Printed with every result, because no check of these files alone can detect a replaced journal. */
const LIMIT =
  'Whoever can write these files can replace the journal with another intact one: compare the head with a copy kept elsewhere (--expect-head), or verify with a checkpoint that was (--checkpoint).'
const LIMIT_WITH_CHECKPOINT =
  'The records that the checkpoint covers are those that it was made of; for those after it compare the head with a copy kept elsewhere.'

/** The report as one line of JSON. Keys are in snake case; unknown values are null. */
export function reportAsJson(report: VerificationReport, kept: KeptNote | undefined): string {
  const { mark, openSegmentTornTail } = report
  return JSON.stringify({
    intact: report.intact,
    deployment_id: report.deploymentId ?? null,
    segments: report.segments,
    cold_segments: report.coldSegments,
    records: report.records,
    batches: report.batches,
    bytes: report.bytes,
    first_sequence: report.firstSequence,
    head_sequence: report.headSequence ?? null,
    head_hash: report.headHash ?? null,
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
    problems: report.problems,
    problem_count: report.problemCount,
  })
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
  { checkpoints: { count, last, handovers, extendsKept } }: VerificationReport,
  kept: KeptNote | undefined,
): string[] {
  const lines: string[] = []
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
export function reportAsText(report: VerificationReport, seconds: number, kept: KeptNote | undefined): string[] {
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
    report.intact ? 'The journal is intact.' : `The journal is NOT intact: ${plural(report.problemCount, 'problem')}.`,
    ...problems,
    ...(more > 0 ? [`  and ${plural(more, 'more problem')}`] : []),
    '',
    `deployment  ${report.deploymentId ?? 'unknown'}`,
    `verified    ${plural(report.records, 'record')} in ${plural(report.batches, 'batch', 'batches')} and ${plural(report.segments, 'segment')}${cold}, ${rate.toLocaleString('en')} records/s`,
    `head        ${head}`,
    ...checkpointLines(report, kept),
    ...(tail === undefined
      ? []
      : [
          `note        ${tail.segment} offset ${tail.offset}: torn tail of ${plural(tail.bytes, 'byte')}, never acknowledged: ${tail.detail}`,
        ]),
    ...report.notes.map((note) => `note        ${note}`),
    '',
    report.checkpoints.extendsKept === true ? LIMIT_WITH_CHECKPOINT : LIMIT,
  ]
}

function plural(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString('en')} ${count === 1 ? one : many}`
}
