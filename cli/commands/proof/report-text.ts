/** A proof report for people and for programs. */
import { PROOF_LIMITS, type ProofReport, type ProofVerdict } from '../../../engine/proof/proof-report.ts'
import { textTable } from '../../terminal/text-table.ts'
import { visibleText } from '../../terminal/visible-text.ts'

const VERDICTS: Readonly<Record<ProofVerdict, string>> = {
  verified: 'Verified: the file is the object that the deployment signed for.',
  failed: 'FAILED: the file and the bundle do not prove what the bundle states.',
  'not proved': 'Not proved: no check failed, but a required one could not be made.',
}

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
  return [VERDICTS[verdict], '', ...textTable(rows), ...stated, '', ...PROOF_LIMITS]
}

type Claims = NonNullable<ProofReport['claims']>

function statedBy({ object, payload, deployment }: Claims): Record<string, unknown> {
  return { ...object, sha256: payload.sha256, public_key: deployment.public_key, key_id: deployment.key_id }
}

function statedRows(claims: Claims): string[][] {
  return Object.entries(statedBy(claims)).map(([name, value]) => [`  ${name}`, visibleText(String(value))])
}
