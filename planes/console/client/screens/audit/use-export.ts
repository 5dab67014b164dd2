import { useEffect, useRef, useState } from 'preact/hooks'
import { callForResponse } from '../../api/call.ts'
import { saveFile } from '../../parts/save-file.ts'
import type { Filters } from './audit-types.ts'
import { unreachable } from '../../api/api-error.ts'

/** The range to export. Without `to`: up to the record of the export. */
export interface ExportRange extends Pick<Filters, 'bucket' | 'key' | 'key_prefix'> {
  readonly from: string | undefined
  readonly to: string | undefined
  readonly format: 'json' | 'csv'
}

interface Exported {
  readonly id: string
  readonly bytes: number
}

interface Export {
  /** Bytes received; undefined while no export runs. */
  readonly bytes: number | undefined
  readonly error: unknown
  readonly exported: Exported | undefined
  readonly run: (range: ExportRange) => Promise<void>
  readonly cancel: () => void
  readonly saveManifest: (id: string) => Promise<void>
}

/** Runs one export at a time and saves it as a file when complete. It stops with the dialog. */
export function useExport(): Export {
  const [bytes, setBytes] = useState<number>()
  const [error, setError] = useState<unknown>()
  const [exported, setExported] = useState<Exported>()
  const running = useRef<AbortController | undefined>(undefined)
  const cancel = () => running.current?.abort()
  useEffect(() => cancel, [])
  const run = async (range: ExportRange) => {
    const control = new AbortController()
    running.current = control
    setError(undefined)
    setExported(undefined)
    setBytes(0)
    try {
      const response = await callForResponse('GET /audit/export', { query: range }, control.signal)
      const records = await blobOf(response, setBytes)
      control.signal.throwIfAborted()
      saveFile(records, `audit.${range.format}`)
      setExported({ id: response.headers.get('x-object-store-export-id') ?? '', bytes: records.size })
    } catch (failure) {
      if (!control.signal.aborted) setError(failure)
    }
    setBytes(undefined)
  }
  const saveManifest = async (id: string) => {
    try {
      const response = await callForResponse('GET /audit/export/manifest', { query: { export_id: id } })
      saveFile(await response.blob(), 'manifest.json')
    } catch (failure) {
      setError(failure)
    }
  }
  return { bytes, error, exported, run, cancel, saveManifest }
}

/** Size of the blobs that are joined: browsers keep large blobs on disk instead of in memory. */
const PIECE_BYTES = 8 * 1024 ** 2

/**
 * The body of an answer as a blob, with at most one piece in the page's memory.
 * @throws ApiError when it ends early
 */
async function blobOf(response: Response, onProgress: (bytes: number) => void): Promise<Blob> {
  const reader = response.body?.getReader()
  const whole: Blob[] = []
  let piece: Uint8Array<ArrayBuffer>[] = []
  let pieceBytes = 0
  let bytes = 0
  for (;;) {
    const next = await reader?.read().catch(() => {
      throw unreachable()
    })
    if (next === undefined || next.done) break
    piece.push(next.value)
    pieceBytes += next.value.length
    bytes += next.value.length
    if (pieceBytes >= PIECE_BYTES) {
      whole.push(new Blob(piece))
      piece = []
      pieceBytes = 0
    }
    onProgress(bytes)
  }
  return new Blob([...whole, ...piece], { type: 'application/octet-stream' })
}
