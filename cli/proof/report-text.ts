/** A proof report for people and for programs. */
import type { UnsignedBundle } from '../../engine/proof/bundle-types.ts'
import { PROOF_LIMITS, type ProofReport, statedBy, VERDICT_SENTENCES } from '../../engine/proof/proof-report.ts'
import { textTable } from '../terminal/text-table.ts'
import { visibleText } from '../terminal/visible-text.ts'

/** The report as one line of JSON. `claims` is null if the bundle could not be read. */
export function proofReportAsJson({ verdict, checks, claims }: ProofReport): string {
  return JSON.stringify({
    verdict,
    checks,
    claims: claims === undefined ? null : statedBy(claims),
    limits: PROOF_LIMITS,
  })
}

/** The report in lines for a person. The bundle is untrusted: its texts are made safe for the terminal. */
export function proofReportAsText({ verdict, checks, claims }: ProofReport): string[] {
  const rows = checks.map(({ name, status, sentence }) => [status, name, visibleText(sentence)])
  const stated = claims === undefined ? [] : ['', 'The bundle states:', ...textTable(statedRows(claims))]
  return [VERDICT_SENTENCES[verdict], '', ...textTable(rows), ...stated, '', ...PROOF_LIMITS]
}

function statedRows(claims: UnsignedBundle): string[][] {
  return Object.entries(statedBy(claims)).map(([name, value]) => [`  ${name}`, visibleText(String(value))])
}
