/** A verification report for people and for programs. */
import type { VerificationReport } from '../../../engine/verify/journal-verifier.ts'

/** Problems printed as text; `--json` has more. */
const PROBLEMS_SHOWN_MAXIMUM = 20

/** Printed with every result, because no check of these files alone can detect a replaced journal. */
const LIMIT =
  'Whoever can write these files can replace the journal with another intact one: compare the head with a copy kept elsewhere (--expect-head).'

/** The report as one line of JSON. Keys are in snake case; unknown values are null. */
export function reportAsJson(report: VerificationReport): string {
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
    notes: report.notes,
    problems: report.problems,
    problem_count: report.problemCount,
  })
}

/** The report in lines for a person. */
export function reportAsText(report: VerificationReport, seconds: number): string[] {
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
    ...(tail === undefined
      ? []
      : [
          `note        ${tail.segment} offset ${tail.offset}: torn tail of ${plural(tail.bytes, 'byte')}, never acknowledged: ${tail.detail}`,
        ]),
    ...report.notes.map((note) => `note        ${note}`),
    '',
    LIMIT,
  ]
}

function plural(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString('en')} ${count === 1 ? one : many}`
}
