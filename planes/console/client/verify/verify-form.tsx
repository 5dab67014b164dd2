import { useState } from 'preact/hooks'
import { PUBLIC_KEY_FORM } from '../../../../engine/proof/verify-bundle.ts'
import { Field } from '../parts/field.tsx'
import { formatBytes } from '../text/format.ts'
import { FileChoice } from './file-choice.tsx'
import { ProofReportView } from './proof-report.tsx'
import { type Given, useVerification } from './use-verification.ts'

/** Checks a file against a proof bundle in the browser, without sending anything. */
export function VerifyForm() {
  const [chosen, setChosen] = useState<Partial<Given>>({})
  const { done, report, problem, verify, stop } = useVerification()
  const { file, bundle, key = '' } = chosen
  const choose = (part: Partial<Given>) => {
    stop()
    setChosen({ ...chosen, ...part })
  }
  const given = file === undefined || bundle === undefined || !isKey(key) ? undefined : { file, bundle, key }
  const isReady = given !== undefined && done === undefined
  return (
    <div class="stack verify">
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault()
          if (isReady) void verify(given)
        }}
      >
        <Choices chosen={chosen} choose={choose} />
        <footer class="actions">
          {done === undefined ? null : (
            <button type="button" onClick={stop}>
              Cancel
            </button>
          )}
          <button type="submit" class="primary" disabled={!isReady}>
            {done === undefined ? 'Verify' : 'Verifying…'}
          </button>
        </footer>
      </form>
      {done === undefined || file === undefined ? null : <Progress done={done} size={file.size} />}
      {problem === undefined ? null : (
        <div class="error-box" role="alert">
          <p>{problem}</p>
        </div>
      )}
      {report === undefined ? null : <ProofReportView report={report} />}
    </div>
  )
}

/** Whether a text is a public key, or empty: without a key the report says what is not proved. */
function isKey(text: string): boolean {
  return text === '' || PUBLIC_KEY_FORM.test(text)
}

interface ChoicesProps {
  readonly chosen: Partial<Given>
  /** Changes a choice and removes the report, which is about the previous choice. */
  readonly choose: (part: Partial<Given>) => void
}

function Choices({ chosen: { file, bundle, key = '' }, choose }: ChoicesProps) {
  return (
    <>
      <FileChoice
        label="File"
        hint="The bytes of the object as you have them."
        file={file}
        onChoose={(taken) => choose({ file: taken })}
      />
      <FileChoice
        label="Proof bundle"
        hint="The JSON file that was made for this version of the object."
        file={bundle}
        onChoose={(taken) => choose({ bundle: taken })}
      />
      <Field
        label="Public key of the deployment"
        value={key}
        onInput={(text) => choose({ key: text.trim() })}
        problem={isKey(key) ? undefined : 'A public key has 64 hexadecimal digits.'}
        hint="From its operator, who prints it with object-store proof public-key, and not from the bundle: anybody can sign a bundle with a key of their own."
      />
    </>
  )
}

function Progress({ done, size }: { readonly done: number; readonly size: number }) {
  return (
    <p class="progress">
      <progress value={done} max={Math.max(size, 1)} aria-label="Bytes hashed" />
      <span class="faint">
        {formatBytes(done)} of {formatBytes(size)}
      </span>
    </p>
  )
}
