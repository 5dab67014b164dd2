/**
 * Ids, tokens and digests that the server gave out for something else, or that only a lenient decoder takes (S6, S22,
 * S27): none reaches what it was not made for.
 */
import { createHash } from 'node:crypto'
import type { HeaderLine } from '../../../planes/http/exchange.ts'
import type { QueryParameter } from '../../../planes/s3/query-parameters.ts'
import type { Random } from '../../support/random.ts'
import { elements, firstElement } from '../../support/wire-client.ts'
import { BUCKET, OTHER_BUCKET } from './arena.ts'
import type { Assault } from './assault.ts'
import { Lane, type RawAnswer } from './raw-exchange.ts'
import { requestBytes } from './senders.ts'
import { type Signable, signed } from './signed-requests.ts'

interface Case {
  readonly name: string
  readonly signable: Omit<Signable, 'name' | 'mode'>
  readonly mode?: Signable['mode']

  readonly statuses: readonly number[]
}

const SYMBOLS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

/** Texts that look like one that was given out: every one of them must be taken for none. */
function lookalikes(text: string, random: Random): string[] {
  const flips = Array.from(text, (symbol, at) => {
    const other = SYMBOLS[(SYMBOLS.indexOf(symbol) + 1 + random.below(SYMBOLS.length - 1)) % SYMBOLS.length] ?? 'A'
    return text.slice(0, at) + other + text.slice(at + 1)
  })
  const middle = Math.floor(text.length / 2)
  const junk = ['=', '==', ' ', '\n', '!', '%00', '\0', '/', '+', '\u00e9'].flatMap((one) => [
    text + one,
    one + text,
    text.slice(0, middle) + one + text.slice(middle),
  ])
  const cases = [
    text.toLowerCase(),
    text.toUpperCase(),
    text.slice(0, -1),
    text.slice(1),
    text + text,
    [...text].toReversed().join(''),
  ]
  return [...new Set([...flips, ...junk, ...cases])].filter((one) => one !== text)
}

function parameter(name: string, value: string): QueryParameter[] {
  return [[name, value]]
}

function objectCases(version: string, upload: string, random: Random): Case[] {
  const path = `/${BUCKET}/key`
  const refused = [400, 404]
  const of = (name: string, value: string, signable: Omit<Signable, 'name' | 'mode'>, statuses = refused): Case => ({
    name: `${name} ${JSON.stringify(value)}`,
    signable,
    statuses,
  })
  return [
    ...lookalikes(version, random).flatMap((value) => [
      of('version', value, { method: 'GET', path, query: parameter('versionId', value) }),
      of('version deleted', value, { method: 'DELETE', path, query: parameter('versionId', value) }, [204, ...refused]),
    ]),
    ...[`/${OTHER_BUCKET}/key`, `/${BUCKET}/source`, `/${BUCKET}/kex`].flatMap((other) => [
      of(`version of another key at ${other}`, version, {
        method: 'GET',
        path: other,
        query: parameter('versionId', version),
      }),
      of(`retention of a version at ${other}`, version, {
        method: 'GET',
        path: other,
        query: [['retention', ''], ...parameter('versionId', version)],
      }),
    ]),
    ...lookalikes(upload, random).map((value) =>
      of('upload', value, { method: 'GET', path: `/${BUCKET}/open`, query: parameter('uploadId', value) }),
    ),
    ...[path, `/${OTHER_BUCKET}/open`, `/${BUCKET}/opem`].flatMap((other) => [
      of(`upload of another key at ${other}`, upload, {
        method: 'GET',
        path: other,
        query: parameter('uploadId', upload),
      }),
      of(`part of another key at ${other}`, upload, {
        method: 'PUT',
        path: other,
        query: [['partNumber', '1'], ...parameter('uploadId', upload)],
        body: 'x',
      }),
      of(`abort of another key at ${other}`, upload, {
        method: 'DELETE',
        path: other,
        query: parameter('uploadId', upload),
      }),
    ]),
    // An id of one kind is none of another.
    of('upload as a version', upload, { method: 'GET', path, query: parameter('versionId', upload) }),
    of('version as an upload', version, {
      method: 'GET',
      path: `/${BUCKET}/open`,
      query: parameter('uploadId', version),
    }),
  ]
}

function list(name: string, bucket: string, value: string): Case {
  return {
    name: `${name} ${JSON.stringify(value)}`,
    signable: {
      method: 'GET',
      path: `/${bucket}`,
      query: [
        ['list-type', '2'],
        ['continuation-token', value],
      ],
    },
    statuses: [400],
  }
}

function listCases(token: string, random: Random): Case[] {
  return [
    list('token of another bucket', OTHER_BUCKET, token),
    ...lookalikes(token, random).map((value) => list('token', BUCKET, value)),
  ]
}

const BODY = 'bytes with a digest'
const MD5 = createHash('md5').update(BODY).digest('base64')

/** Digests that are right as far as a lenient decoder reads them. */
function digestCases(): Case[] {
  const spellings = [
    MD5.replace('==', ''),
    `${MD5}=`,
    `${MD5}!`,
    `${MD5.slice(0, 8)}!${MD5.slice(8)}`,
    `${MD5}AAAA`,
    MD5.slice(0, -3),
  ]
  const hex = createHash('md5').update(BODY).digest('hex')
  const headers: HeaderLine[] = [...spellings, hex, ''].map((value) => ['content-md5', value])
  const sums = ['AAAAAA', 'AAAAAAA=!', 'x', '', '00000000'].flatMap((value): HeaderLine[] => [
    ['x-amz-checksum-crc32', value],
    ['x-amz-checksum-sha256', value],
    ['x-amz-checksum-crc64nvme', value],
  ])
  return [...headers, ...sums].map(([name, value]) => ({
    name: `${name} ${JSON.stringify(value)}`,
    signable: { method: 'PUT', path: `/${BUCKET}/digest`, headers: [[name, value]], body: BODY },
    statuses: [400],
  }))
}

const OVERRIDES = [
  'content-type',
  'content-language',
  'expires',
  'cache-control',
  'content-disposition',
  'content-encoding',
]
const INJECTIONS = ['a\r\nSet-Cookie: b=c', 'a\nb', 'a\rb', 'a\0b', '\u007f', '\u0100', 'a\u2028b']

/** Headers that a reader asks for: none carries a line of its own, and nobody asks without a signature (S22). */
function overrideCases(): Case[] {
  const path = `/${BUCKET}/key`
  return OVERRIDES.flatMap((name) =>
    INJECTIONS.flatMap((value): Case[] => {
      const query: QueryParameter[] = [[`response-${name}`, value]]
      const what = `response-${name} ${JSON.stringify(value)}`
      return [
        { name: what, signable: { method: 'GET', path, query }, statuses: [200, 400] },
        {
          name: `${what} presigned`,
          mode: 'presigned',
          signable: { method: 'GET', path, query },
          statuses: [200, 400],
        },
      ]
    }),
  )
}

function corsCases(): Case[] {
  const elementNames = ['AllowedOrigin', 'AllowedHeader', 'ExposeHeader', 'AllowedMethod']
  const values = ['a&#13;b', 'a&#10;Set-Cookie: b', 'a\r\nb', '**', 'https://*.*.example', '']
  return elementNames.flatMap((element) =>
    values.map((value): Case => {
      const base = { AllowedOrigin: 'https://example.com', AllowedMethod: 'GET', [element]: value }
      const inner = Object.entries(base).map(([name, text]) => `<${name}>${text}</${name}>`)
      const body = `<CORSConfiguration><CORSRule>${inner.join('')}</CORSRule></CORSConfiguration>`
      const signable = { method: 'PUT', path: `/${BUCKET}`, query: [['cors', '']] as const, body }
      return { name: `CORS ${element} ${JSON.stringify(value)}`, signable, statuses: [200, 400] }
    }),
  )
}

export async function attackValues(assault: Assault): Promise<void> {
  const { arena, random, ledger } = assault
  const lane = new Lane(arena.server.port)
  const versions = await read(assault, lane, {
    method: 'GET',
    path: `/${BUCKET}`,
    query: [
      ['versions', ''],
      ['prefix', 'key'],
    ],
  })
  const version = elements(versions.body, 'VersionId').find((id) => id !== 'null') ?? ''
  const page = await read(assault, lane, {
    method: 'GET',
    path: `/${BUCKET}`,
    query: [
      ['list-type', '2'],
      ['max-keys', '1'],
    ],
  })
  const token = firstElement(page.body, 'NextContinuationToken') ?? ''
  lane.close()
  if (version === '' || token === '') ledger.fault('wrong', 'forged values', 'there is none to forge')
  const cases = [
    ...objectCases(version, arena.uploads.open, random),
    ...listCases(token, random),
    ...digestCases(),
    ...overrideCases(),
    ...corsCases(),
  ]
  await assault.onS3(
    'forged ids, tokens and values',
    cases,
    async (each, { name, signable, mode = 'header', statuses }) => {
      const request = signed(arena, { name, mode, ...signable })
      const bytes = requestBytes(request.method, request.target, request.headers, request.body)
      const { method } = request
      // A deletion of what is not there changes nothing and is no error; a change of CORS is one of the bucket's own.
      const mayChange = statuses.includes(200) && method === 'PUT'
      const answer = await assault.ask(each, { name, method, bytes, mayChange })
      if (answer === undefined) return
      if (!statuses.includes(answer.status)) {
        ledger.fault('wrong', name, `${answer.status} ${answer.code} instead of ${statuses.join(' or ')}`, bytes)
      }
      if (/^set-cookie:/im.test(answer.head))
        ledger.fault('let in', name, `a header of the client: ${answer.head}`, bytes)
    },
  )
}

async function read(assault: Assault, lane: Lane, signable: Omit<Signable, 'name' | 'mode'>): Promise<RawAnswer> {
  const request = signed(assault.arena, { name: 'forged values', mode: 'header', ...signable })
  const { answer } = await lane.exchange(requestBytes(request.method, request.target, request.headers, ''), 'GET')
  if (answer?.status !== 200) throw new Error(`${request.target}: ${answer?.status} ${answer?.body}`)
  return answer
}
