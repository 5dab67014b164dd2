import { Name } from '../../parts/name.tsx'
import { Time } from '../../parts/time.tsx'
import { formatBytes, formatCount } from '../../text/format.ts'
import type { ObjectVersion } from './object-types.ts'

/** The facts about a version. */
export function Facts({ object }: { readonly object: ObjectVersion }) {
  const { size, content_type, created_at, etag, sha256, version_id, lock, headers, metadata } = object
  const others = Object.entries(headers).filter(([name]) => name !== 'content-type')
  return (
    <section>
      <h3>Facts</h3>
      <dl class="facts">
        <dt>Size</dt>
        <dd>
          {formatBytes(size)} <span class="faint">({formatCount(size)} bytes)</span>
        </dd>
        <dt>Type</dt>
        <dd>{content_type === null ? <span class="faint">none</span> : <Name of={content_type} />}</dd>
        <dt>Changed</dt>
        <dd>
          <Time at={created_at} />
        </dd>
        <dt>Version</dt>
        <dd>
          <code>{version_id}</code>
        </dd>
        <dt>ETag</dt>
        <dd>
          <code>{etag}</code>
        </dd>
        <dt>SHA-256</dt>
        <dd>{sha256 === null ? <span class="faint">still being computed</span> : <code>{sha256}</code>}</dd>
        <dt>Retention</dt>
        <dd>
          {lock.mode === null || lock.retain_until === null ? (
            'none'
          ) : (
            <Retention mode={lock.mode} until={lock.retain_until} />
          )}
        </dd>
        <dt>Legal hold</dt>
        <dd>{lock.legal_hold ? <span class="badge">on</span> : 'off'}</dd>
      </dl>
      <Pairs title="Headers" pairs={others} />
      <Pairs title="Metadata" pairs={Object.entries(metadata)} />
    </section>
  )
}

function Retention({ mode, until }: { readonly mode: string; readonly until: string }) {
  return (
    <>
      <span class="badge">{mode}</span> until <Time at={until} />
    </>
  )
}

interface PairsProps {
  readonly title: string
  readonly pairs: readonly (readonly [name: string, value: string])[]
}

function Pairs({ title, pairs }: PairsProps) {
  if (pairs.length === 0) return null
  return (
    <>
      <h3>{title}</h3>
      <dl class="facts">
        {pairs.map(([name, value]) => (
          <>
            <dt key={name}>
              <Name of={name} />
            </dt>
            <dd>
              <Name of={value} />
            </dd>
          </>
        ))}
      </dl>
    </>
  )
}
