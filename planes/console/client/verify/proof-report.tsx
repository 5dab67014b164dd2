import { Fragment } from 'preact'
import { PROOF_LIMITS, type ProofReport, statedBy, VERDICT_SENTENCES } from '../../../../engine/proof/proof-report.ts'
import { Name } from '../parts/name.tsx'

/** The report of the verifier with every check. Its texts may come from an untrusted bundle. */
export function ProofReportView({ report }: { readonly report: ProofReport }) {
  const { verdict, checks, claims } = report
  return (
    <section class="proof-report" aria-label="Report">
      <p class={`verdict ${CLASSES[verdict]}`} role="status">
        <strong>{VERDICT_SENTENCES[verdict]}</strong>
      </p>
      <h2>Checks</h2>
      <ul class="checks">
        {checks.map(({ name, status, sentence }) => (
          <li key={name}>
            <span class={`badge ${CLASSES[status]}`}>{status}</span>
            <strong>{name}</strong>
            <Name of={sentence} />
          </li>
        ))}
      </ul>
      {claims === undefined ? null : (
        <>
          <h2>The bundle states</h2>
          <dl class="facts">
            {Object.entries(statedBy(claims)).map(([name, value]) => (
              <Fragment key={name}>
                <dt>{name.replaceAll('_', ' ')}</dt>
                <dd>
                  <Name of={String(value)} />
                </dd>
              </Fragment>
            ))}
          </dl>
        </>
      )}
      <h2>What it does not prove</h2>
      <ul>
        {PROOF_LIMITS.map((sentence) => (
          <li key={sentence}>{sentence}</li>
        ))}
      </ul>
    </section>
  )
}

const CLASSES = { verified: 'good', passed: 'good', failed: 'bad', 'not proved': 'warning' } as const
