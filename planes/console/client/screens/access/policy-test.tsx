import { useState } from 'preact/hooks'
import { ACTIONS, type ActionRow } from '../../../../../build/console-api/actions.ts'
import { compilePolicies, decidingStatement } from '../../../../../engine/access/policy.ts'
import { Choice, Field } from '../../parts/field.tsx'
import { Name } from '../../parts/name.tsx'
import type { Statement } from './access-types.ts'

interface PolicyTestProps {
  readonly statements: readonly Statement[]
  /** Name of each statement in the answer. */
  readonly names: readonly string[]
}

/** Shows whether a request would be allowed, and by which statement, evaluated here with the server's rule. */
export function PolicyTest({ statements, names }: PolicyTestProps) {
  const [action, setAction] = useState('s3:GetObject')
  const [bucket, setBucket] = useState('')
  const [key, setKey] = useState('')
  const row = ACTIONS.find((each) => each.action === action) as ActionRow
  const resource = resourceOf(row, bucket, key)
  return (
    <div class="stack policy-test">
      <Choice label="Action" value={action} onChange={setAction} options={ACTION_OPTIONS} />
      {row.level === 'service' ? null : <Field label="Bucket" value={bucket} onInput={setBucket} />}
      {row.level === 'object' ? <Field label="Key" value={key} onInput={setKey} /> : null}
      <p role="status">
        {resource === undefined ? (
          <span class="faint">Fill in a request to see whether it is allowed.</span>
        ) : (
          <Decision row={row} resource={resource} statements={statements} names={names} />
        )}
      </p>
    </div>
  )
}

const ACTION_OPTIONS = ACTIONS.map(({ action, operations }): readonly [string, string] => {
  const others = operations.filter((name) => `s3:${name}` !== action)
  return [action, others.length === 0 ? action : `${action} (${others.join(', ')})`]
})

/** The resource in the server's form; undefined while a part is missing. */
function resourceOf({ level }: ActionRow, bucket: string, key: string): string | undefined {
  if (level === 'service') return 'bucket:*'
  if (bucket === '' || (level === 'object' && key === '')) return undefined
  return level === 'bucket' ? `bucket:${bucket}` : `bucket:${bucket}/${key}`
}

interface DecisionProps extends PolicyTestProps {
  readonly row: ActionRow
  readonly resource: string
}

function Decision({ row: { action, coveredBy }, resource, statements, names }: DecisionProps) {
  const deciding = decidingStatement(compilePolicies(statements), action, resource, coveredBy)
  const asked = (
    <>
      {action} on <Name of={resource} />
    </>
  )
  if (deciding === undefined) {
    return (
      <>
        <span class="badge bad">denied</span> No statement allows {asked}.
      </>
    )
  }
  return (
    <>
      <span class={deciding.denies ? 'badge bad' : 'badge good'}>{deciding.denies ? 'denied' : 'allowed'}</span>{' '}
      <Name of={names[deciding.index] ?? ''} /> {deciding.denies ? 'denies' : 'allows'} {asked}.
    </>
  )
}
