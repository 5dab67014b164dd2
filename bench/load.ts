import { randomInt } from 'node:crypto'
import type { QueryParameter } from '../planes/s3/request/query-parameters.ts'
import type { PlainRequest } from './endpoint.ts'
import { objectKey } from './object-keys.ts'

/** Requests for wrk. */
export interface Load {
  readonly requests: readonly PlainRequest[]
  /** Sent with every PUT. */
  readonly body: Buffer
  /** Whether requests begin again after the last one. */
  readonly order: 'cycle' | 'once'
  /**
   * What the rate is divided by: `time` is the whole duration; `count` is the time of the finished requests, for
   * requests that take a good part of the duration each, or end before it.
   */
  readonly rateBy: 'time' | 'count'
  /** With fewer bytes per answer than this, on average, the answers are wrong. */
  readonly answerBytesMinimum: number
  /**
   * Mean pause of a connection before each request, in milliseconds: the load is then steady, below the server's
   * maximum. Without it, or with 0, there are no pauses.
   */
  readonly pauseMilliseconds?: number
}

const NO_BODY = Buffer.alloc(0)

/** PUTs of objects with these numbers. */
export function putLoad(bucket: string, indexes: readonly number[], body: Buffer, rateBy: Load['rateBy']): Load {
  const requests = indexes.map((index): PlainRequest => ({ method: 'PUT', path: `/${bucket}/${objectKey(index)}` }))
  return { requests, body, order: 'cycle', rateBy, answerBytesMinimum: 0 }
}

/** GETs of objects with these numbers, each of which has at least `bytes` bytes. */
export function getLoad(bucket: string, indexes: readonly number[], bytes: number, rateBy: Load['rateBy']): Load {
  const requests = indexes.map((index): PlainRequest => ({ method: 'GET', path: `/${bucket}/${objectKey(index)}` }))
  return { requests, body: NO_BODY, order: 'cycle', rateBy, answerBytesMinimum: bytes }
}

/** DELETEs of objects with these numbers, each one once. */
export function deleteLoad(bucket: string, indexes: readonly number[]): Load {
  const requests = indexes.map((index): PlainRequest => ({ method: 'DELETE', path: `/${bucket}/${objectKey(index)}` }))
  return { requests, body: NO_BODY, order: 'once', rateBy: 'count', answerBytesMinimum: 0 }
}

/** The writes among ten requests. */
const WRITES_OF_TEN: ReadonlySet<number> = new Set([1, 4, 8])

/** Seven GETs for every three PUTs, over the same objects. */
export function mixedLoad(bucket: string, indexes: readonly number[], body: Buffer): Load {
  const requests = indexes.map((index, position): PlainRequest => {
    const method = WRITES_OF_TEN.has(position % 10) ? 'PUT' : 'GET'
    return { method, path: `/${bucket}/${objectKey(index)}` }
  })
  return { requests, body, order: 'cycle', rateBy: 'time', answerBytesMinimum: 0 }
}

/** PUTs of objects picked at random among 0 to `objects - 1`; with pauses, it is a steady load. */
export function randomPutLoad(
  bucket: string,
  objects: number,
  count: number,
  body: Buffer,
  pauseMilliseconds = 0,
): Load {
  const indexes = Array.from({ length: count }, () => randomInt(objects))
  return { ...putLoad(bucket, indexes, body, 'time'), pauseMilliseconds }
}

/** Pages asked for when there are that many to begin at. */
const LIST_PAGES = 500
export const LIST_KEYS = 1000
/** Fewer bytes than this cannot name the keys of a full page. */
const LIST_BYTES_MINIMUM = LIST_KEYS * 100

/**
 * ListObjectsV2 of 1,000 keys, from places all over a bucket that holds the objects 0 to `objects - 1`. Only full
 * pages: no page starts in the last thousand keys.
 */
export function listLoad(bucket: string, objects: number): Load {
  const keys = Array.from({ length: objects }, (_, index) => objectKey(index)).sort()
  return pagesLoad(
    `/${bucket}`,
    pageStarts(objects - LIST_KEYS).map((place) => [
      ['list-type', '2'],
      ['max-keys', String(LIST_KEYS)],
      ['start-after', keys[place] ?? ''],
    ]),
  )
}

/**
 * ListObjectVersions of 1,000 versions, from places all over a bucket that holds `versions` versions of each of the
 * objects 0 to `objects - 1`. Only pages that are full.
 */
export function listVersionsLoad(bucket: string, objects: number, versions: number): Load {
  const keys = Array.from({ length: objects }, (_, index) => objectKey(index)).sort()
  return pagesLoad(
    `/${bucket}`,
    pageStarts(objects - Math.ceil(LIST_KEYS / versions)).map((place) => [
      ['versions', ''],
      ['max-keys', String(LIST_KEYS)],
      ['key-marker', keys[place] ?? ''],
    ]),
  )
}

/** ListParts of 1,000 parts, from places all over an upload that has `parts` of them. Only pages that are full. */
export function listPartsLoad(bucket: string, key: string, upload: string, parts: number): Load {
  return pagesLoad(
    `/${bucket}/${key}`,
    pageStarts(parts - LIST_KEYS + 1).map((place) => [
      ['uploadId', upload],
      ['max-parts', String(LIST_KEYS)],
      ['part-number-marker', String(place)],
    ]),
  )
}

/** Start places among 0 to `starts - 1` for pages: consecutive ones are far apart. */
function pageStarts(starts: number): number[] {
  const places = Math.max(1, starts)
  const pages = Math.min(LIST_PAGES, places)
  // A prime step, so that every page has its turn.
  return Array.from({ length: pages }, (_, page) => Math.floor((((page * 211) % pages) * places) / pages))
}

function pagesLoad(path: string, queries: readonly (readonly QueryParameter[])[]): Load {
  const requests = queries.map((query): PlainRequest => ({ method: 'GET', path, query }))
  return { requests, body: NO_BODY, order: 'cycle', rateBy: 'time', answerBytesMinimum: LIST_BYTES_MINIMUM }
}

/** The numbers `from` to `from + count - 1`. */
export function indexRange(from: number, count: number): number[] {
  return Array.from({ length: count }, (_, offset) => from + offset)
}
