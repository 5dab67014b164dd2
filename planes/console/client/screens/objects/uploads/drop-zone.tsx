import type { ComponentChildren } from 'preact'
import { useRef, useState } from 'preact/hooks'
import { ADMINISTRATORS, may } from '../../../api/session.ts'
import { Name } from '../../../parts/name.tsx'
import { sayFailure } from '../../../parts/status.tsx'
import { droppedFiles } from './dropped-files.ts'
import { folderOf } from '../entries.ts'
import { enqueue } from './upload-queue.ts'

interface DropZoneProps {
  readonly bucket: string
  readonly prefix: string
  readonly children: ComponentChildren
}

/** Uploads dropped files and folders into the current folder. */
export function DropZone({ bucket, prefix, children }: DropZoneProps) {
  const [over, setOver] = useState(false)
  // Every element inside also sends enter and leave events.
  const depth = useRef(0)
  const folder = folderOf(prefix)
  const move = (event: DragEvent, step: 1 | -1) => {
    if (!takes(event)) return
    event.preventDefault()
    depth.current = Math.max(0, depth.current + step)
    setOver(depth.current > 0)
  }
  const drop = (event: DragEvent) => {
    if (!takes(event) || event.dataTransfer === null) return
    event.preventDefault()
    depth.current = 0
    setOver(false)
    droppedFiles(event.dataTransfer.items, folder)
      .then((files) => enqueue(bucket, files))
      .catch(sayFailure)
  }
  return (
    <div
      class={over ? 'drop-zone over' : 'drop-zone'}
      onDragEnter={(event) => move(event, 1)}
      onDragLeave={(event) => move(event, -1)}
      onDragOver={(event) => takes(event) && event.preventDefault()}
      onDrop={drop}
    >
      {children}
      {over ? (
        <p class="drop-hint">
          Drop to upload into <Name of={`${bucket}/${folder}`} />
        </p>
      ) : null}
    </div>
  )
}

function takes({ dataTransfer }: DragEvent): boolean {
  return may(ADMINISTRATORS) && dataTransfer?.types.includes('Files') === true
}
