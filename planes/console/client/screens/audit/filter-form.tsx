import { useEffect, useState } from 'preact/hooks'
import { hrefOf } from '../../app/address.ts'
import { go } from '../../app/router.ts'
import { Check, Choice, Field, TimeField } from '../../parts/field.tsx'

const TEXTS = [
  ['bucket', 'Bucket', ''],
  ['key', 'Key', ''],
  ['key_prefix', 'Key begins with', ''],
  ['principal', 'Principal', 'Such as service_account:… or management:auditor'],
  ['credential_id', 'Credential', 'An id such as cred-…: its requests, and refused ones that claimed it'],
  ['operation', 'Operation', 'Such as s3:PUT or audit.export'],
  ['source_ip', 'Address', ''],
  ['request_id', 'Request id', ''],
] as const

/** The filter of the list, kept in the address, so that it can be shared and survives a reload. */
export function FilterForm({ query }: { readonly query: Readonly<Record<string, string>> }) {
  const [draft, setDraft] = useState<Readonly<Record<string, string>>>(query)
  const [open, setOpen] = useState(Object.keys(query).length > 0)
  useEffect(() => setDraft(query), [JSON.stringify(query)])
  const set = (name: string) => (value: string) => setDraft({ ...draft, [name]: value })
  const orphans = draft['orphans'] === '1'
  return (
    <details open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Filter</summary>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault()
          go(hrefOf(['audit'], draft))
        }}
      >
        <div class="filter-fields">
          {TEXTS.map(([name, label, hint]) => (
            <Field
              key={name}
              label={label}
              value={draft[name] ?? ''}
              onInput={set(name)}
              {...(hint === '' ? {} : { hint })}
            />
          ))}
          <TimeField label="From" value={draft['since'] ?? ''} onInput={set('since')} />
          {orphans ? null : (
            <>
              <TimeField label="Until" value={draft['until'] ?? ''} onInput={set('until')} />
              <Choice
                label="Result"
                value={draft['result'] ?? ''}
                onChange={set('result')}
                options={[
                  ['', 'any'],
                  ['success', 'success'],
                  ['denied', 'denied'],
                  ['failure', 'failure'],
                  ['attempted', 'attempted'],
                ]}
              />
            </>
          )}
        </div>
        <Check
          label="Only attempts without an outcome"
          hint="Changes that began but have no recorded outcome. Searches the whole log."
          checked={orphans}
          onChange={(wanted) => set('orphans')(wanted ? '1' : '')}
        />
        <footer class="actions">
          <button type="button" onClick={() => go(hrefOf(['audit']))}>
            Show all
          </button>
          <button type="submit" class="primary">
            Apply
          </button>
        </footer>
      </form>
    </details>
  )
}
