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
   * What the rate is divided by: `time` is the whole duration, `count` the time that the finished requests took, for
   * those that take a good part of the duration each, or end before it.
   */
  readonly rateBy: 'time' | 'count'
  /** Fewer bytes per answer than this, on average, and the answers were not what was asked for. */
  readonly answerBytesMinimum: number
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

/** Of ten requests, those that are writes. */
const WRITES_OF_TEN: ReadonlySet<number> = new Set([1, 4, 8])

/** Seven GETs for every three PUTs, over the same objects. */
export function mixedLoad(bucket: string, indexes: readonly number[], body: Buffer): Load {
  const requests = indexes.map((index, position): PlainRequest => {
    const method = WRITES_OF_TEN.has(position % 10) ? 'PUT' : 'GET'
    return { method, path: `/${bucket}/${objectKey(index)}` }
  })
  return { requests, body, order: 'cycle', rateBy: 'time', answerBytesMinimum: 0 }
}

/** Pages asked for when there are that many to begin at. */
const LIST_PAGES = 500
export const LIST_KEYS = 1000
/** Fewer bytes than this cannot name the keys of a full page. */
const LIST_BYTES_MINIMUM = LIST_KEYS * 100

/**
 * ListObjectsV2 of 1,000 keys, from places all over a bucket that holds the objects 0 to `objects - 1`. Only pages that
 * are full: no page begins in the last thousand keys.
 */
export function listLoad(bucket: string, objects: number): Load {
  const keys = Array.from({ length: objects }, (_, index) => objectKey(index)).sort()
  const starts = Math.max(1, objects - LIST_KEYS)
  const pages = Math.min(LIST_PAGES, starts)
  const requests = Array.from({ length: pages }, (_, page): PlainRequest => {
    // A prime step, so that pages that follow each other are far apart.
    const place = Math.floor((((page * 211) % pages) * starts) / pages)
    const after = keys[place] ?? ''
    return {
      method: 'GET',
      path: `/${bucket}`,
      query: [
        ['list-type', '2'],
        ['max-keys', String(LIST_KEYS)],
        ['start-after', after],
      ],
    }
  })
  return { requests, body: NO_BODY, order: 'cycle', rateBy: 'time', answerBytesMinimum: LIST_BYTES_MINIMUM }
}

/** The numbers `from` to `from + count - 1`. */
export function indexRange(from: number, count: number): number[] {
  return Array.from({ length: count }, (_, offset) => from + offset)
}
