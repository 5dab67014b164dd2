import { useId, useState } from 'preact/hooks'
import { Name } from '../parts/name.tsx'
import { formatBytes } from '../text/format.ts'

interface FileChoiceProps {
  readonly label: string
  readonly hint: string
  readonly file: File | undefined
  readonly onChoose: (file: File) => void
}

/** Chooses a file by the keyboard, by the mouse, or by dropping it. */
export function FileChoice({ label, hint, file, onChoose }: FileChoiceProps) {
  const id = useId()
  const [over, setOver] = useState(false)
  const take = (files: FileList | null | undefined) => {
    const first = files?.[0]
    if (first !== undefined) onChoose(first)
  }
  return (
    <div
      class={over ? 'file-choice over' : 'file-choice'}
      onDragOver={(event) => {
        event.preventDefault()
        setOver(true)
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault()
        setOver(false)
        take(event.dataTransfer?.files)
      }}
    >
      <label for={id}>{label}</label>
      <input
        id={id}
        type="file"
        aria-describedby={`${id}-hint`}
        onChange={(event) => take(event.currentTarget.files)}
      />
      <small id={`${id}-hint`} class="faint">
        {file === undefined ? (
          hint
        ) : (
          <>
            <Name of={file.name} />, {formatBytes(file.size)}
          </>
        )}
      </small>
    </div>
  )
}
