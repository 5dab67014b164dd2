/**
 * Copies of parts: nobody gets bytes into an upload that they may not read, or into an upload that is not where they may write,
 * whatever name, range or upload they give.
 */
import { hash } from 'node:crypto'
import type { HeaderLine } from '../../../planes/http/exchange.ts'
import type { QueryParameter } from '../../../planes/s3/request/query-parameters.ts'
import { requestTarget, signHeaders } from '../../support/signing.ts'
import { type Arena, BUCKET, KEY, OTHER_BUCKET, type Signers } from './arena.ts'
import type { Assault } from './assault.ts'
import { requestBytes } from '../../support/raw/request-text.ts'

interface Copy {
  readonly name: string
  readonly sender: keyof Signers
  readonly path: string
  readonly upload: string
  readonly source: string
  readonly more?: readonly HeaderLine[]
  /** What it must be refused with. */
  readonly codes: readonly string[]
}

const DENIED = ['AccessDenied']
/** Where those who may not read what is there must not be told. */
const SOURCES = [`${BUCKET}/${KEY}`, `${BUCKET}/kex`, `attacx/${KEY}`, `/${BUCKET}/${KEY}?versionId=null`]

/** Names that lead out of a bucket, or to two of them. */
const NAMES: readonly string[] = [
  ['..', '.', '', '/', '//', 'a', '/a', '%', '%zz', '%ff/%ff', '%00/%00', '?versionId=', `${BUCKET}?versionId=null`],
  [`${BUCKET}/../${OTHER_BUCKET}/${KEY}`, `${BUCKET}%2f..%2f${KEY}`, `../${BUCKET}/${KEY}`, `file:///etc/passwd`],
  [`${BUCKET}/${'k'.repeat(1025)}`, `http://127.0.0.1/${BUCKET}/${KEY}`, `arn:aws:s3:::${BUCKET}/${KEY}`],
  [`${BUCKET}/${KEY}?versionId=`, `${BUCKET}/${KEY}?versionId=../x`, `${BUCKET}/${KEY},${BUCKET}/${KEY}`],
].flat()

const RANGES: readonly string[] = [
  ['bytes=0-', 'bytes=-1', 'bytes=-', 'bytes=0-0,2-2', 'bytes=1-0', 'bytes=0-999999', 'bytes=99999-99999', 'x'],
  ['bytes=0--1', 'bytes=00000000000000000000-1', 'bytes=1e0-2', 'bytes=0-18446744073709551616', '0-1', 'bytes'],
  ['bytes=9007199254740992-9007199254740993', 'bytes=0-0x1', 'bytes=+0-1', 'octets=0-1', 'bytes = 0-1'],
].flat()

function copiesOf({ uploads }: Arena): Copy[] {
  const open = { path: `/${BUCKET}/open`, upload: uploads.open }
  const elsewhere = `/${OTHER_BUCKET}/open`
  const range: HeaderLine = ['x-amz-copy-source-range', 'bytes=0-0']
  const hidden = (['nothing', 'denied', 'elsewhere', 'reader', 'writer'] as const).flatMap((sender) =>
    SOURCES.flatMap((source) =>
      [[], [range]].map((more) => ({
        name: `by ${sender} of ${source}`,
        sender,
        ...open,
        source,
        more,
        codes: DENIED,
      })),
    ),
  )
  const own = `${OTHER_BUCKET}/${KEY}`
  return [
    ...hidden,
    // Who may write here and may not read there, the other way round, and with the upload of a bucket that is not theirs.
    {
      name: 'into their own bucket',
      sender: 'elsewhere',
      path: elsewhere,
      upload: uploads.open,
      source: `${BUCKET}/${KEY}`,
      codes: DENIED,
    },
    { name: 'out of their own bucket', sender: 'elsewhere', ...open, source: own, codes: DENIED },
    {
      name: 'into the upload of others',
      sender: 'elsewhere',
      path: elsewhere,
      upload: uploads.open,
      source: own,
      codes: ['NoSuchUpload'],
    },
    {
      name: 'into the upload of another key',
      sender: 'everything',
      path: `/${BUCKET}/kex`,
      upload: uploads.open,
      source: own,
      codes: ['NoSuchUpload'],
    },
    ...NAMES.map((source): Copy => {
      const codes = ['InvalidArgument', 'NoSuchBucket', 'NoSuchKey', 'KeyTooLongError']
      return { name: `of ${JSON.stringify(source.slice(0, 80))}`, sender: 'everything', ...open, source, codes }
    }),
    ...RANGES.map((text): Copy => {
      const more: HeaderLine[] = [['x-amz-copy-source-range', text]]
      const source = `${BUCKET}/${KEY}`
      return { name: `of the range ${text}`, sender: 'everything', ...open, source, more, codes: ['InvalidArgument'] }
    }),
  ]
}

function bytesOf({ server, signers }: Arena, { sender, path, upload, source, more = [] }: Copy): string {
  const query: QueryParameter[] = [
    ['partNumber', '4'],
    ['uploadId', upload],
  ]
  const headers: HeaderLine[] = [['x-amz-copy-source', source], ...more]
  const payloadHash = hash('sha256', '', 'hex')
  const { host } = server.wire
  const signing = {
    method: 'PUT',
    path,
    query,
    headers,
    host,
    region: 'us-east-1',
    now: Date.now(),
    ...signers[sender],
  }
  return requestBytes('PUT', requestTarget(path, query), signHeaders({ ...signing, payloadHash }), '')
}

export async function attackPartCopies(assault: Assault): Promise<void> {
  const { arena, ledger } = assault
  const shapes = new Set<string>()
  await assault.onS3('copies of parts', copiesOf(arena), async (lane, copy) => {
    const name = `copy of a part ${copy.name}`
    const bytes = bytesOf(arena, copy)
    const answer = await assault.ask(lane, { name, method: 'PUT', bytes, mayChange: false })
    if (answer === undefined) return
    if (answer.status < 400) ledger.fault('let in', name, `status ${answer.status}`, bytes)
    else if (!copy.codes.includes(answer.code ?? ''))
      ledger.fault('wrong', name, `${answer.status} ${answer.code}`, bytes)
    if (copy.codes === DENIED) shapes.add(`${answer.status} ${answer.code}`)
  })
  if (shapes.size > 1) ledger.fault('leaked', 'copies of parts', [...shapes].join(' and '))
}
