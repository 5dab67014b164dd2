import { Fragment } from 'preact'
import { hrefOf } from '../../app/address.ts'
import { CopyButton } from '../../parts/copy-button.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Name } from '../../parts/name.tsx'
import { Time } from '../../parts/time.tsx'
import type { AuditEvent, AuditLine } from './audit-types.ts'
import { recordOf } from './join-records.ts'

/** All recorded members of a request. */
export function RecordDialog({ line, onClose }: { readonly line: AuditLine; readonly onClose: () => void }) {
  const { attempt, outcome } = line
  const { request_id, principal, metadata } = recordOf(line)
  const [bucket, key] = [metadata['bucket'], metadata['key']]
  return (
    <Dialog title="A request" wide onClose={onClose}>
      {outcome === undefined ? (
        <p class="warning">
          There is no record of an outcome. The request is still running, or the server ended before it did: what is
          there now tells whether the change was made.
        </p>
      ) : null}
      {outcome === undefined ? null : <Record title={attempt === undefined ? 'Record' : 'Outcome'} event={outcome} />}
      {attempt === undefined ? null : <Record title="Attempt" event={attempt} />}
      <p class="actions" onClick={({ target }) => target instanceof HTMLAnchorElement && onClose()}>
        {request_id === null ? null : <a href={hrefOf(['audit'], { request_id })}>Records of this request</a>}
        <a href={hrefOf(['audit'], { principal })}>All requests of this principal</a>
        {typeof bucket === 'string' ? (
          <a href={hrefOf(['audit'], { bucket, key: typeof key === 'string' ? key : undefined })}>
            All requests for {typeof key === 'string' ? 'this object' : 'this bucket'}
          </a>
        ) : null}
        <CopyButton
          label="Copy as JSON"
          text={JSON.stringify(
            [attempt, outcome].filter((event) => event !== undefined),
            undefined,
            2,
          )}
        />
      </p>
    </Dialog>
  )
}

function Record({ title, event }: { readonly title: string; readonly event: AuditEvent }) {
  const { timestamp, metadata, ...members } = event
  return (
    <section class="stack">
      <h3>{title}</h3>
      <dl class="facts">
        <dt>time</dt>
        <dd>
          <Time at={timestamp} /> <span class="faint">({timestamp})</span>
        </dd>
        {[...Object.entries(members), ...Object.entries(metadata)].map(([name, value]) =>
          value === null ? null : (
            <Fragment key={name}>
              <dt>{name.replaceAll('_', ' ')}</dt>
              <dd>
                <Name of={String(value)} />
              </dd>
            </Fragment>
          ),
        )}
      </dl>
    </section>
  )
}
