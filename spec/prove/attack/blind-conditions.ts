/** Conditional writes by who may write and not read: an ETag in a condition must not tell what there is. */
import { hash } from 'node:crypto'
import type { HeaderLine } from '../../../planes/http/exchange.ts'
import type { QueryParameter } from '../../../planes/s3/request/query-parameters.ts'
import { requestTarget, signHeaders } from '../../support/signing.ts'
import { type Arena, BUCKET, KEY } from './arena.ts'
import type { Assault } from './assault.ts'
import type { RawAnswer } from '../../support/raw/raw-answer.ts'
import { requestBytes } from '../../support/raw/request-text.ts'

/** The first has an object, the second has none, the bucket of the third is not there. */
const PLACES = [`/${BUCKET}/${KEY}`, `/${BUCKET}/kex`, `/attacx/${KEY}`]
const ETAGS = [`"${hash('md5', `bytes of ${KEY}`, 'hex')}"`, '"0"', 'W/"0"', '0', '*, "0"', '']
const CONDITIONS = ETAGS.flatMap((etag): HeaderLine[] => [
  ['if-match', etag],
  ['if-none-match', etag],
])

interface Write {
  readonly name: string
  readonly method: string
  readonly query: readonly QueryParameter[]
  readonly headers: readonly HeaderLine[]
  readonly body: string
}

const WRITES: readonly Write[] = [
  { name: 'PutObject', method: 'PUT', query: [], headers: [], body: 'blind' },
  {
    name: 'PutObject at an offset',
    method: 'PUT',
    query: [],
    headers: [['x-amz-write-offset-bytes', '12']],
    body: 'blind',
  },
  { name: 'CopyObject', method: 'PUT', query: [], headers: [['x-amz-copy-source', `${BUCKET}/source`]], body: '' },
  {
    name: 'UploadPartCopy',
    method: 'PUT',
    query: [
      ['partNumber', '1'],
      ['uploadId', 'none'],
    ],
    headers: [['x-amz-copy-source', `${BUCKET}/source`]],
    body: '',
  },
  {
    name: 'RenameObject',
    method: 'PUT',
    query: [['renameObject', '']],
    headers: [['x-amz-rename-source', 'source']],
    body: '',
  },
  {
    name: 'CompleteMultipartUpload',
    method: 'POST',
    query: [['uploadId', 'none']],
    headers: [],
    body: '<CompleteMultipartUpload/>',
  },
  { name: 'DeleteObject', method: 'DELETE', query: [], headers: [], body: '' },
]

function bytesOf({ server, signers }: Arena, path: string, { method, query, headers, body }: Write): string {
  const payloadHash = hash('sha256', body, 'hex')
  const { host } = server.wire
  const signing = { method, path, query, headers, host, region: 'us-east-1', now: Date.now(), ...signers.writer }
  return requestBytes(method, requestTarget(path, query), signHeaders({ ...signing, payloadHash }), body)
}

function shapeOf({ status, code }: RawAnswer): string {
  return `${status} ${code}`
}

export async function attackConditions(assault: Assault): Promise<void> {
  const { arena, ledger } = assault
  const cases = WRITES.flatMap((write) => CONDITIONS.map((condition) => ({ write, condition })))
  await assault.onS3('conditional writes without read permission', cases, async (lane, { write, condition }) => {
    const name = `${write.name} with ${condition.join(': ')}`
    const shapes = new Set<string>()
    for (const path of PLACES) {
      const bytes = bytesOf(arena, path, { ...write, headers: [...write.headers, condition] })
      const one = { name: `${name} on ${path}`, method: write.method, bytes, mayChange: false }
      const answer = await assault.ask(lane, one)
      if (answer === undefined) return
      shapes.add(shapeOf(answer))
      if (answer.status < 400) ledger.fault('let in', one.name, `status ${answer.status}`, bytes)
    }
    if (shapes.size > 1) ledger.fault('leaked', name, [...shapes].join(' and '))
  })
}
