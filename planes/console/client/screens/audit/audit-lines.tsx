import { Name } from '../../parts/name.tsx'
import { Time } from '../../parts/time.tsx'
import { VirtualList } from '../../parts/virtual-list.tsx'
import type { AuditEvent, AuditLine } from './audit-types.ts'
import { recordOf } from './join-records.ts'

const COLUMNS = [
  { title: 'Time', class: 'when' },
  { title: 'Request', class: 'wide' },
  { title: 'Who', class: 'some' },
  { title: 'Result', class: 'number' },
] as const

/** Style of a result; an attempt has no result yet. */
const RESULT_CLASSES = {
  success: 'badge good',
  denied: 'badge bad',
  failure: 'badge bad',
  attempted: 'badge warning',
} as const

interface AuditLinesProps {
  readonly lines: readonly AuditLine[]
  readonly more: boolean
  readonly onEnd: () => void
  readonly onShow: (line: AuditLine) => void
}

/** One request on a line. */
export function AuditLines({ lines, more, onEnd, onShow }: AuditLinesProps) {
  return (
    <VirtualList
      label="Audit records"
      columns={COLUMNS}
      count={lines.length}
      more={more}
      onEnd={onEnd}
      keyOf={(index) => recordOf(lines[index] as AuditLine).event_id}
      row={(index) => <Cells line={lines[index] as AuditLine} onShow={onShow} />}
    />
  )
}

interface CellsProps {
  readonly line: AuditLine
  readonly onShow: (line: AuditLine) => void
}

function Cells({ line, onShow }: CellsProps) {
  const record = recordOf(line)
  const { timestamp, operation, principal, principal_name, credential_id, result } = record
  return (
    <>
      <div role="cell" class="when">
        <Time at={timestamp} />
      </div>
      <div role="cell" class="wide">
        <button type="button" class="quiet" onClick={() => onShow(line)}>
          {operation.replace(' /api/v1/', ' /')}
        </button>
        <Name of={subjectOf(record)} />
      </div>
      <div role="cell" class="some">
        <Name of={principal_name ?? credential_id ?? principal} />
      </div>
      <div role="cell" class="number">
        <span class={RESULT_CLASSES[result]}>{result === 'attempted' ? 'no outcome' : result}</span>
      </div>
    </>
  )
}

/** The target of a request: the object or bucket, or another name in its record. */
function subjectOf({ resource, metadata }: AuditEvent): string {
  const { bucket, key } = metadata
  if (bucket !== undefined) return key === undefined ? String(bucket) : `${bucket}/${key}`
  if (resource.startsWith('bucket:')) return resource.slice('bucket:'.length)
  // The resource of a management request is its route, which the operation already contains.
  const id = Object.entries(metadata).find(([name]) => name.endsWith('_id') && name !== 'intent_event_id')
  return resource.startsWith('/api/') ? String(id?.[1] ?? '') : resource
}
