import { useRef } from 'preact/hooks'
import { sayFailure } from '../../../parts/status.tsx'
import { chosenFiles } from './dropped-files.ts'
import { folderOf } from '../entries.ts'
import { enqueue } from './upload-queue.ts'

interface UploadButtonsProps {
  readonly bucket: string
  readonly prefix: string
}

export function UploadButtons({ bucket, prefix }: UploadButtonsProps) {
  const files = useRef<HTMLInputElement>(null)
  const folder = useRef<HTMLInputElement>(null)
  const take = (input: HTMLInputElement) => {
    try {
      if (input.files !== null) enqueue(bucket, chosenFiles(input.files, folderOf(prefix)))
    } catch (error) {
      sayFailure(error)
    }
    // Cleared, so that the same file can be chosen again.
    input.value = ''
  }
  return (
    <>
      <button type="button" class="primary" onClick={() => files.current?.click()}>
        Upload files
      </button>
      <button type="button" onClick={() => folder.current?.click()}>
        Upload a folder
      </button>
      <input type="file" multiple hidden ref={files} onChange={(event) => take(event.currentTarget)} />
      <input
        type="file"
        hidden
        ref={folder}
        {...{ webkitdirectory: true }}
        onChange={(event) => take(event.currentTarget)}
      />
    </>
  )
}
