import { useState } from 'preact/hooks'
import { call } from '../../api/call.ts'
import { ADMINISTRATORS, may } from '../../api/session.ts'
import { Check, Field } from '../../parts/field.tsx'
import { FormDialog } from '../../parts/form-dialog.tsx'
import { Empty, Loading } from '../../parts/loading.tsx'
import { Name } from '../../parts/name.tsx'
import { say } from '../../parts/status.tsx'
import { useLoaded } from '../../parts/use-loaded.ts'
import { counted } from '../../text/format.ts'
import type { BucketPart, LifecycleRule } from './bucket-types.ts'

export function LifecycleSection({ bucket: { name } }: BucketPart) {
  const rules = useLoaded(
    async (signal) => {
      return (await call('GET /buckets/{bucket}/lifecycle', { path: { bucket: name } }, signal)).rules
    },
    [name],
  )
  const [editing, setEditing] = useState<LifecycleRule | 'new'>()
  const [deleting, setDeleting] = useState<LifecycleRule>()
  return (
    <section class="section wide">
      <h2>Lifecycle rules</h2>
      <Loading of={rules}>
        {(list) =>
          list.length === 0 ? (
            <Empty title="Nothing expires by itself" />
          ) : (
            <Rules rules={list} edit={setEditing} remove={setDeleting} />
          )
        }
      </Loading>
      {may(ADMINISTRATORS) ? (
        <button type="button" onClick={() => setEditing('new')}>
          Add a rule
        </button>
      ) : null}
      {editing === undefined ? null : (
        <RuleDialog
          bucket={name}
          rule={editing === 'new' ? undefined : editing}
          changed={rules.reload}
          onClose={() => setEditing(undefined)}
        />
      )}
      {deleting === undefined ? null : (
        <DeleteRule rule={deleting} changed={rules.reload} onClose={() => setDeleting(undefined)} />
      )}
    </section>
  )
}

interface RulesProps {
  readonly rules: readonly LifecycleRule[]
  readonly edit: (rule: LifecycleRule) => void
  readonly remove: (rule: LifecycleRule) => void
}

function Rules({ rules, edit, remove }: RulesProps) {
  return (
    <ul class="cards">
      {rules.map((rule) => (
        <li key={rule.id}>
          <p>
            {rule.prefix === '' ? 'All keys' : <Name of={rule.prefix} />}
            {rule.enabled ? null : <span class="badge">disabled</span>}
          </p>
          <p class="faint">{periodsOf(rule)}</p>
          {may(ADMINISTRATORS) ? (
            <p class="actions">
              <button type="button" onClick={() => edit(rule)} aria-label={`Change the rule ${rule.id}`}>
                Change
              </button>
              <button
                type="button"
                class="danger"
                onClick={() => remove(rule)}
                aria-label={`Delete the rule ${rule.id}`}
              >
                Delete
              </button>
            </p>
          ) : null}
        </li>
      ))}
    </ul>
  )
}

function periodsOf({ expiration, noncurrent_version_expiration: noncurrent }: LifecycleRule): string {
  const current = expiration === null ? [] : [`objects expire after ${counted(expiration, 'day')}`]
  const earlier = noncurrent === null ? [] : [`earlier versions are removed after ${counted(noncurrent, 'day')}`]
  return [...current, ...earlier].join('; ')
}

interface RuleDialogProps {
  readonly bucket: string
  /** Undefined creates a new rule. */
  readonly rule: LifecycleRule | undefined
  readonly changed: () => void
  readonly onClose: () => void
}

function RuleDialog({ bucket, rule, changed, onClose }: RuleDialogProps) {
  const [prefix, setPrefix] = useState(rule?.prefix ?? '')
  const [enabled, setEnabled] = useState(rule?.enabled ?? true)
  const [current, setCurrent] = useState(String(rule?.expiration ?? ''))
  const [earlier, setEarlier] = useState(String(rule?.noncurrent_version_expiration ?? ''))
  const days = [current, earlier].map(daysOf)
  const isValid = !days.includes('not days') && days.some((value) => typeof value === 'number')
  const save = async () => {
    const [expiration, noncurrent_version_expiration] = days.map((value) => (typeof value === 'number' ? value : null))
    const body = {
      prefix,
      enabled,
      expiration: expiration ?? null,
      noncurrent_version_expiration: noncurrent_version_expiration ?? null,
    }
    if (rule === undefined) await call('POST /buckets/{bucket}/lifecycle', { path: { bucket }, body })
    else await call('PUT /buckets/{bucket}/lifecycle/{rule_id}', { path: { bucket, rule_id: rule.id }, body })
    say('The rule was saved.')
    changed()
    onClose()
  }
  return (
    <FormDialog
      title={rule === undefined ? 'Add a lifecycle rule' : 'Change a lifecycle rule'}
      verb="Save"
      ready={isValid}
      onClose={onClose}
      onSubmit={save}
    >
      <Field
        label="Prefix"
        value={prefix}
        onInput={setPrefix}
        hint="Only keys that begin so. Empty: all of the bucket."
      />
      <Field
        label="Objects expire after days"
        value={current}
        onInput={setCurrent}
        inputMode="numeric"
        hint="Empty: never. With versioning, a delete marker comes before the object."
        problem={problemOf(days[0])}
      />
      <Field
        label="Earlier versions are removed after days"
        value={earlier}
        onInput={setEarlier}
        inputMode="numeric"
        hint="Empty: never. They are deleted permanently."
        problem={problemOf(days[1])}
      />
      <Check label="Enabled" checked={enabled} onChange={setEnabled} />
    </FormDialog>
  )
}

function problemOf(value: number | 'none' | 'not days' | undefined): string | undefined {
  return value === 'not days' ? 'Not a whole number of days, 1 or more.' : undefined
}

function daysOf(text: string): number | 'none' | 'not days' {
  if (text.trim() === '') return 'none'
  const value = Number(text)
  return Number.isSafeInteger(value) && value >= 1 ? value : 'not days'
}

interface DeleteRuleProps {
  readonly rule: LifecycleRule
  readonly changed: () => void
  readonly onClose: () => void
}

function DeleteRule({ rule, changed, onClose }: DeleteRuleProps) {
  const remove = async () => {
    await call('DELETE /lifecycle-rules/{id}', { path: { id: rule.id } })
    say('The rule was deleted.')
    changed()
    onClose()
  }
  return (
    <FormDialog title="Delete a lifecycle rule" verb="Delete" dangerous onClose={onClose} onSubmit={remove}>
      <p>
        For {rule.prefix === '' ? 'all keys' : <Name of={rule.prefix} />}: {periodsOf(rule)}. What has expired does not
        come back.
      </p>
    </FormDialog>
  )
}
