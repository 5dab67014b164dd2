/**
 * Ids, tokens and digests that the server gave out for something else, or that only a lenient decoder takes (S6, S22,
 * S27): none reaches what it was not made for.
 */
import { createHash } from 'node:crypto'
import type { HeaderLine } from '../../../planes/http/exchange.ts'
import type { QueryParameter } from '../../../planes/s3/request/query-parameters.ts'
import type { Random } from '../../support/random.ts'
import { elements, firstElement } from '../../support/wire-client.ts'
import { BUCKET, OTHER_BUCKET } from './arena.ts'
import type { Assault } from './assault.ts'
import { Lane } from '../../support/raw/lane.ts'
import type { RawAnswer } from '../../support/raw/raw-answer.ts'
import { bytesOf, type Signable, signed } from './signed-requests.ts'

interface Case extends Signable {
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

type Asked = Omit<Signable, 'name'>

function of(name: string, value: string, asked: Asked, ...further: number[]): Case {
  return { name: `${name} ${JSON.stringify(value)}`, ...asked, statuses: [400, 404, ...further] }
}

function versioned(method: string, path: string, value: string, ...more: QueryParameter[]): Asked {
  return { method, path, query: [...more, ['versionId', value]] }
}

function uploading(method: string, path: string, value: string, ...more: QueryParameter[]): Asked {
  return { method, path, query: [...more, ['uploadId', value]] }
}

function objectCases(version: string, upload: string, random: Random): Case[] {
  const key = `/${BUCKET}/key`
  const open = `/${BUCKET}/open`
  return [
    ...lookalikes(version, random).flatMap((value) => [
      of('version', value, versioned('GET', key, value)),
      of('version deleted', value, versioned('DELETE', key, value), 204),
    ]),
    ...[`/${OTHER_BUCKET}/key`, `/${BUCKET}/source`, `/${BUCKET}/kex`].flatMap((path) => [
      of(`version of another key at ${path}`, version, versioned('GET', path, version)),
      of(`retention of a version at ${path}`, version, versioned('GET', path, version, ['retention', ''])),
    ]),
    ...lookalikes(upload, random).map((value) => of('upload', value, uploading('GET', open, value))),
    ...[key, `/${OTHER_BUCKET}/open`, `/${BUCKET}/opem`].flatMap((path) => {
      const part = uploading('PUT', path, upload, ['partNumber', '1'])
      return [
        of(`upload of another key at ${path}`, upload, uploading('GET', path, upload)),
        of(`part of another key at ${path}`, upload, { ...part, body: 'x' }),
        of(`abort of another key at ${path}`, upload, uploading('DELETE', path, upload)),
      ]
    }),
    // An id of one kind is none of another.
    of('upload as a version', upload, versioned('GET', key, upload)),
    of('version as an upload', version, uploading('GET', open, version)),
  ]
}

function listing(bucket: string, ...more: QueryParameter[]): Asked {
  return { method: 'GET', path: `/${bucket}`, query: [['list-type', '2'], ...more] }
}

function list(name: string, bucket: string, value: string): Case {
  const asked = listing(bucket, ['continuation-token', value])
  return { name: `${name} ${JSON.stringify(value)}`, ...asked, statuses: [400] }
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
    method: 'PUT',
    path: `/${BUCKET}/digest`,
    headers: [[name, value]],
    body: BODY,
    statuses: [400],
  }))
}

const OVERRIDES = 'content-type content-language expires cache-control content-disposition content-encoding'.split(' ')
const INJECTIONS = ['a\r\nSet-Cookie: b=c', 'a\nb', 'a\rb', 'a\0b', '\u007f', '\u0100', 'a\u2028b']

/** Headers that a reader asks for: none carries a line of its own, and nobody asks without a signature (S22). */
function overrideCases(): Case[] {
  const path = `/${BUCKET}/key`
  return OVERRIDES.flatMap((name) =>
    INJECTIONS.flatMap((value): Case[] => {
      const query: QueryParameter[] = [[`response-${name}`, value]]
      const asked = { method: 'GET', path, query, statuses: [200, 400] }
      const what = `response-${name} ${JSON.stringify(value)}`
      return [
        { name: what, ...asked },
        { name: `${what} presigned`, mode: 'presigned', ...asked },
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
      const asked = { method: 'PUT', path: `/${BUCKET}`, query: [['cors', '']] as const, body }
      return { name: `CORS ${element} ${JSON.stringify(value)}`, ...asked, statuses: [200, 400] }
    }),
  )
}

export async function attackValues(assault: Assault): Promise<void> {
  const { arena, random, ledger } = assault
  const lane = new Lane(arena.server.port)
  const asked: Asked = { method: 'GET', path: `/${BUCKET}`, query: [['versions', ''] as const, ['prefix', 'key']] }
  const version = elements((await read(assault, lane, asked)).body, 'VersionId').find((id) => id !== 'null') ?? ''
  const page = await read(assault, lane, listing(BUCKET, ['max-keys', '1']))
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
  await assault.onS3('forged ids, tokens and values', cases, async (each, { statuses, ...signable }) => {
    // A deletion of what is not there changes nothing and is no error; a change of CORS is one of the bucket's own.
    const mayChange = statuses.includes(200) && signable.method === 'PUT'
    const answer = await assault.signed(each, signable, statuses, mayChange)
    if (answer === undefined || !/^set-cookie:/im.test(answer.head)) return
    ledger.fault('let in', signable.name, `a header of the client: ${answer.head}`)
  })
}

async function read(assault: Assault, lane: Lane, asked: Asked): Promise<RawAnswer> {
  const request = signed(assault.arena, { name: 'forged values', ...asked })
  const { answer } = await lane.exchange(bytesOf(request), 'GET')
  if (answer?.status !== 200) throw new Error(`${request.target}: ${answer?.status} ${answer?.body}`)
  return answer
}
