import { counted, formatBytes } from '../../text/format.ts'
import type { BucketPart } from './bucket-types.ts'
import { Time } from '../../parts/time.tsx'

export function UsageSection({ bucket: { usage, region, created_at } }: BucketPart) {
  return (
    <section class="section">
      <h2>Usage</h2>
      <dl class="facts">
        <dt>Objects</dt>
        <dd>
          {counted(usage.objects, 'object')}, {formatBytes(usage.bytes)}
        </dd>
        <dt>Earlier versions</dt>
        <dd>
          {counted(usage.noncurrent_versions, 'version')}, {formatBytes(usage.noncurrent_bytes)}
        </dd>
        <dt>Delete markers</dt>
        <dd>{counted(usage.delete_markers, 'marker')}</dd>
        <dt>Region</dt>
        <dd>{region}</dd>
        <dt>Created</dt>
        <dd>
          <Time at={created_at} />
        </dd>
      </dl>
    </section>
  )
}
