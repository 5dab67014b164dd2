import { CopyButton } from '../../parts/copy-button.tsx'
import { ErrorBox } from '../../parts/error-box.tsx'
import { counted, formatCount } from '../../text/format.ts'
import { EvidenceHead } from './evidence-tabs.tsx'
import { type ChainState, type Problem, useChain } from './use-chain.ts'

/** Recomputes the hash chain of the journal, and shows its head. */
export function ChainScreen() {
  const { state, running, error, verify, stop } = useChain()
  return (
    <div class="screen">
      <EvidenceHead current="Chain" />
      <p>
        Every record holds the hash of the one before it. The server reads the whole journal again, and this page shows
        how far it is and what it finds. To check it without trusting the server, run{' '}
        <code>object-store journal verify</code> on a copy.
      </p>
      <p class="actions">
        {running ? (
          <button type="button" onClick={stop}>
            Stop
          </button>
        ) : (
          <button type="button" class="primary" onClick={() => void verify()}>
            Verify the chain
          </button>
        )}
      </p>
      {error === undefined ? null : <ErrorBox error={error} retry={() => void verify()} />}
      {state === undefined ? null : <ChainReport state={state} running={running} />}
    </div>
  )
}

function ChainReport({ state, running }: { readonly state: ChainState; readonly running: boolean }) {
  const { checked, verified, headSequence, headHash, problems, complete } = state
  const head = `${headSequence}:${headHash}`
  return (
    <>
      {running ? <progress value={checked} max={Math.max(headSequence + 1, 1)} aria-label="Records checked" /> : null}
      <p role="status">
        <Verdict state={state} running={running} />
      </p>
      {problems.length === 0 ? null : <Problems problems={problems} />}
      <section class="section">
        <h2>Head of the chain</h2>
        <dl class="facts">
          <dt>Records</dt>
          <dd>
            {formatCount(verified)} of {counted(checked, 'record')} verified{complete ? '' : ' so far'}
          </dd>
          <dt>Head</dt>
          <dd>
            <code>{head}</code>
          </dd>
        </dl>
        <p class="faint">
          Keep it somewhere else: <code>journal verify --expect-head</code> holds a later journal against it. Whoever
          can write the files can replace the whole chain, and only a head that is kept elsewhere shows it.
        </p>
        <CopyButton label="Copy the head" text={head} />
      </section>
    </>
  )
}

function Verdict({
  state: { checked, problems, complete },
  running,
}: {
  readonly state: ChainState
  readonly running: boolean
}) {
  if (problems.length > 0) return <span class="badge bad">{counted(problems.length, 'problem')} found</span>
  if (running) return <>{counted(checked, 'record')} so far, without a problem.</>
  if (!complete) return <span class="badge warning">Stopped after {counted(checked, 'record')}</span>
  return (
    <>
      <span class="badge good">intact</span> Every record is as it was written, from the first to the head.
    </>
  )
}

function Problems({ problems }: { readonly problems: readonly Problem[] }) {
  return (
    <ul class="cards">
      {problems.map(({ sequence, last_sequence, verdict, segment, offset, detail }) => (
        <li key={`${sequence} ${verdict}`}>
          <p>
            <span class="badge bad">{verdict}</span>{' '}
            {sequence === last_sequence ? `record ${sequence}` : `records ${sequence} to ${last_sequence}`}
          </p>
          <p class="faint">
            {detail} Segment <code>{segment}</code>, offset {offset}.
          </p>
        </li>
      ))}
    </ul>
  )
}
