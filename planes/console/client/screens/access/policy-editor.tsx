import { useState } from 'preact/hooks'
import { ErrorBox } from '../../parts/error-box.tsx'
import { Choice, Field, TextArea } from '../../parts/field.tsx'
import type { Policy, Statement } from './access-types.ts'
import { actionsProblem, patternsOf, resourcesProblem } from './explain.ts'
import { PolicyTest } from './policy-test.tsx'
import { StatementText } from './statement-text.tsx'

interface PolicyEditorProps {
  /** Undefined for a new policy. */
  readonly policy?: Policy
  readonly verb: string
  readonly save: (body: { readonly name: string; readonly statements: readonly Statement[] }) => Promise<void>
}

/** A statement as typed. */
interface Draft {
  readonly effect: Statement['effect']
  readonly actions: string
  readonly resources: string
}

const NEW_DRAFT: Draft = { effect: 'allow', actions: '', resources: '' }

function draftOf({ effect, actions, resources }: Statement): Draft {
  return { effect, actions: actions.join('\n'), resources: resources.join('\n') }
}

function statementOf({ effect, actions, resources }: Draft): Statement {
  return { effect, actions: patternsOf(actions), resources: patternsOf(resources) }
}

function isReady({ actions, resources }: Statement): boolean {
  const isThere = actions.length > 0 && resources.length > 0
  return isThere && actionsProblem(actions) === undefined && resourcesProblem(resources) === undefined
}

/** Edits a policy. Every statement is described in words as it is typed, and tested before it is saved. */
export function PolicyEditor({ policy, verb, save }: PolicyEditorProps) {
  const [name, setName] = useState(policy?.name ?? '')
  const [drafts, setDrafts] = useState<readonly Draft[]>(policy?.statements.map(draftOf) ?? [NEW_DRAFT])
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>()
  const statements = drafts.map(statementOf)
  const ready = name !== '' && statements.length > 0 && statements.every(isReady)
  const submit = async () => {
    setBusy(true)
    setError(undefined)
    try {
      await save({ name, statements })
    } catch (failure) {
      setError(failure)
    } finally {
      setBusy(false)
    }
  }
  return (
    <>
      <form
        class="stack policy-editor"
        onSubmit={(event) => {
          event.preventDefault()
          if (ready && !busy) void submit()
        }}
      >
        <Field label="Name of the policy" value={name} onInput={setName} />
        {drafts.map((draft, index) => (
          <StatementFields
            key={index}
            number={index + 1}
            draft={draft}
            onChange={(changed) => setDrafts(drafts.map((each, place) => (place === index ? changed : each)))}
            onRemove={drafts.length === 1 ? undefined : () => setDrafts(drafts.filter((_, place) => place !== index))}
          />
        ))}
        {error === undefined ? null : <ErrorBox error={error} />}
        <footer class="actions">
          <button type="button" onClick={() => setDrafts([...drafts, NEW_DRAFT])}>
            Add a statement
          </button>
          <button type="submit" class="primary" disabled={!ready || busy}>
            {busy ? 'Working…' : verb}
          </button>
        </footer>
      </form>
      <section class="section wide">
        <h2>Test before it is saved</h2>
        <PolicyTest
          statements={statements.filter(isReady)}
          names={drafts.flatMap((draft, index) => (isReady(statementOf(draft)) ? [`Statement ${index + 1}`] : []))}
        />
      </section>
    </>
  )
}

interface StatementFieldsProps {
  readonly number: number
  readonly draft: Draft
  readonly onChange: (draft: Draft) => void
  readonly onRemove: (() => void) | undefined
}

function StatementFields({ number, draft, onChange, onRemove }: StatementFieldsProps) {
  const statement = statementOf(draft)
  return (
    <fieldset>
      <legend>Statement {number}</legend>
      <Choice
        label="Effect"
        value={draft.effect}
        onChange={(effect) => onChange({ ...draft, effect })}
        options={[
          ['allow', 'Allow'],
          ['deny', 'Deny, whatever else allows it'],
        ]}
      />
      <TextArea
        label="Actions"
        value={draft.actions}
        onInput={(actions) => onChange({ ...draft, actions })}
        problem={actionsProblem(statement.actions)}
        hint="One per line, such as s3:GetObject; a * at the end matches anything."
      />
      <TextArea
        label="Resources"
        value={draft.resources}
        onInput={(resources) => onChange({ ...draft, resources })}
        problem={resourcesProblem(statement.resources)}
        hint="One on a line: bucket:photos for the bucket, bucket:photos/* for its objects."
      />
      {isReady(statement) ? <StatementText statement={statement} /> : null}
      {onRemove === undefined ? null : (
        <p class="actions">
          <button type="button" aria-label={`Remove the statement ${number}`} onClick={onRemove}>
            Remove
          </button>
        </p>
      )}
    </fieldset>
  )
}
