import { type Signal, signal } from '@preact/signals'
import { pathOf } from '../../../api/address.ts'
import { ApiError, errorOf, unreachable } from '../../../api/api-error.ts'
import { comebacks, isAway, noteAway } from '../../../api/connection.ts'
import { isExpired, session } from '../../../api/session.ts'
import { formatCount } from '../../../text/format.ts'

export type UploadState = 'waiting' | 'sending' | 'done' | 'exists' | 'failed' | 'cancelled'

/** One file on its way into a bucket. An interrupted upload restarts at its first byte. */
export interface Upload {
  readonly id: number
  readonly bucket: string
  readonly key: string
  readonly file: File
  readonly state: Signal<UploadState>
  /** Bytes sent. */
  readonly sent: Signal<number>
  readonly error: Signal<ApiError | undefined>
  /** Number of automatic restarts. */
  restarts: number
  /** Whether to replace an existing object; otherwise it is kept, and the state is `exists`. */
  replace: boolean
  request: XMLHttpRequest | undefined
}

/** Concurrent uploads. */
const AT_ONCE = 3
/** Maximum number of uploads, whose names and states are held in memory. */
export const FILES_MAXIMUM = 10_000
/** Automatic restarts before an upload fails and waits for the user. */
const RESTARTS_MAXIMUM = 5

/** Every upload of this tab that was not cleared, oldest first. They continue while other screens are shown. */
export const uploads = signal<readonly Upload[]>([])
/** By bucket, how often all uploads into it have finished. */
export const finishedUploads = signal<ReadonlyMap<string, number>>(new Map())

let lastId = 0
let sending = 0
/** Index in the queue before which no upload waits. */
let next = 0

export interface FileToUpload {
  readonly key: string
  readonly file: File
}

/** Adds uploads; removes finished ones if there are too many. @throws ApiError TOO_MANY_FILES, without adding any */
export function enqueue(bucket: string, files: readonly FileToUpload[]): void {
  const open = uploads.value.filter(({ state }) => state.value !== 'done' && state.value !== 'cancelled')
  if (open.length + files.length > FILES_MAXIMUM) throw tooManyFiles()
  const kept = uploads.value.length + files.length > FILES_MAXIMUM ? open : uploads.value
  const added = files.map(({ key, file }): Upload => {
    lastId += 1
    return {
      id: lastId,
      bucket,
      key,
      file,
      state: signal('waiting'),
      sent: signal(0),
      error: signal(undefined),
      restarts: 0,
      replace: false,
      request: undefined,
    }
  })
  uploads.value = [...kept, ...added]
  next = 0
  pump()
}

export function tooManyFiles(): ApiError {
  const message = `More than ${formatCount(FILES_MAXIMUM)} files at once: none of these is sent. Choose fewer, or use an S3 client, such as aws s3 sync.`
  return new ApiError('TOO_MANY_FILES', message, 0)
}

/** Sends an upload again from its first byte; with `replace`, an existing object is replaced. */
export function retry(upload: Upload, replace = upload.replace): void {
  upload.replace = replace
  upload.restarts = 0
  putBack(upload)
  pump()
}

function putBack(upload: Upload): void {
  upload.error.value = undefined
  upload.sent.value = 0
  upload.state.value = 'waiting'
  next = 0
}

export function cancel(upload: Upload): void {
  if (upload.state.value === 'done') return
  upload.state.value = 'cancelled'
  upload.request?.abort()
}

/** Whether an upload has ended, successfully or not. */
export function isOver({ state }: Upload): boolean {
  return state.value !== 'waiting' && state.value !== 'sending'
}

/** Removes ended uploads from the list. */
export function clearFinished(): void {
  uploads.value = uploads.value.filter((upload) => !isOver(upload))
  next = 0
}

function pump(): void {
  if (isAway.value || isExpired.value || session.value === undefined) return
  const all = uploads.value
  for (; sending < AT_ONCE && next < all.length; next += 1) {
    const upload = all[next] as Upload
    if (upload.state.value === 'waiting') send(upload)
  }
  if (sending === 0) tellFinished()
}

function tellFinished(): void {
  const buckets = new Set(uploads.value.map(({ bucket }) => bucket))
  const counts = new Map(finishedUploads.value)
  for (const bucket of buckets) counts.set(bucket, (counts.get(bucket) ?? 0) + 1)
  finishedUploads.value = counts
}

/** Sends by XMLHttpRequest, because fetch does not report the progress of a body. */
function send(upload: Upload): void {
  const request = new XMLHttpRequest()
  let path: string
  try {
    path = pathOf('PUT /buckets/{bucket}/object/{key}', { bucket: upload.bucket, key: upload.key })
  } catch (error) {
    fail(
      upload,
      errorOf(0, JSON.stringify({ error: { code: 'INVALID_KEY', message: (error as Error).message } }), null),
    )
    return
  }
  upload.request = request
  upload.state.value = 'sending'
  sending += 1
  const authorization = session.value?.authorization ?? ''
  request.open('PUT', new URL(path, document.baseURI))
  request.setRequestHeader('authorization', authorization)
  request.setRequestHeader('content-type', upload.file.type === '' ? 'application/octet-stream' : upload.file.type)
  if (!upload.replace) request.setRequestHeader('if-none-match', '*')
  request.upload.addEventListener('progress', ({ loaded }) => {
    upload.sent.value = Math.min(loaded, upload.file.size)
  })
  request.addEventListener('loadend', () => {
    sending -= 1
    upload.request = undefined
    settle(upload, request, authorization)
    pump()
  })
  request.send(upload.file)
}

function settle(upload: Upload, request: XMLHttpRequest, authorization: string): void {
  if (upload.state.value === 'cancelled') return
  const { status } = request
  if (status >= 200 && status < 300) {
    upload.sent.value = upload.file.size
    upload.state.value = 'done'
    return
  }
  if (status === 0) {
    noteAway()
    void brokenOff(upload)
    return
  }
  const error = errorOf(status, request.responseText, request.getResponseHeader('x-request-id'))
  if (error.code === 'UNAUTHENTICATED') {
    // A request sent with a previous credential says nothing about the current one.
    if (authorization === session.value?.authorization) isExpired.value = true
    restart(upload, error)
  } else if (error.code === 'CONFLICT' && !upload.replace) upload.state.value = 'exists'
  else fail(upload, error)
}

/** Restarts the upload when the server is back; fails it if the file was changed or moved. */
async function brokenOff(upload: Upload): Promise<void> {
  const isThere = await upload.file
    .slice(0, 1)
    .arrayBuffer()
    .catch(() => undefined)
  if (upload.state.value !== 'sending') return
  if (isThere !== undefined) {
    restart(upload, unreachable())
    return
  }
  fail(
    upload,
    new ApiError('FILE_UNREADABLE', 'The file was changed or moved since it was chosen. Choose it again.', 0),
  )
}

function restart(upload: Upload, error: ApiError): void {
  upload.restarts += 1
  if (upload.restarts > RESTARTS_MAXIMUM) fail(upload, error)
  else putBack(upload)
}

comebacks.subscribe(pump)
// The next user must not see the files of the previous one.
session.subscribe((now) => {
  if (now !== undefined) return
  for (const upload of uploads.peek()) cancel(upload)
  clearFinished()
})

function fail(upload: Upload, error: ApiError): void {
  upload.error.value = error
  upload.state.value = 'failed'
}
