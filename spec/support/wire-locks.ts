/** Object Lock over the wire: its headers and documents, and what a version says of its lock. */
import type { HeaderLine } from '../../planes/http/exchange.ts'
import type { TestServer } from './test-clients.ts'
import { firstElement, type WireAnswer } from './wire-client.ts'
import { createBucket } from './wire-versions.ts'

export const DAY = 24 * 60 * 60 * 1000

/** A lock as a request asks for it; `until` is text, since a spec also sends what is no date. */
export interface WireLock {
  readonly mode?: string
  readonly until?: string
  readonly hold?: string
}

export const LOCK_HEADER = {
  mode: 'x-amz-object-lock-mode',
  until: 'x-amz-object-lock-retain-until-date',
  hold: 'x-amz-object-lock-legal-hold',
} as const

export const BYPASS: HeaderLine = ['x-amz-bypass-governance-retention', 'true']

export function lockLines({ mode, until, hold }: WireLock): HeaderLine[] {
  const lines: [name: string, value: string | undefined][] = [
    [LOCK_HEADER.mode, mode],
    [LOCK_HEADER.until, until],
    [LOCK_HEADER.hold, hold],
  ]
  return lines.flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]))
}

/** The lock that an answer tells of in its headers; an unlocked version gives an empty object. */
export function lockOf({ headers }: WireAnswer): WireLock {
  const told: Record<string, string> = {}
  for (const [field, name] of Object.entries(LOCK_HEADER)) {
    const value = headers[name]
    if (typeof value === 'string') told[field] = value
  }
  return told
}

/** A moment so many milliseconds from now, or from another one, in the form of S3. */
export function later(milliseconds: number, from: number = Date.now()): string {
  return new Date(from + milliseconds).toISOString()
}

export function createLockBucket(server: TestServer, bucket: string): Promise<void> {
  return createBucket(server, bucket, [['x-amz-bucket-object-lock-enabled', 'true']])
}

/** The inside of a default retention: `<Mode>` and `<Days>` or `<Years>`; undefined removes it. */
export function setDefaultRetention(
  server: TestServer,
  bucket: string,
  inner: string | undefined,
): Promise<WireAnswer> {
  const rule = inner === undefined ? '' : `<Rule><DefaultRetention>${inner}</DefaultRetention></Rule>`
  const body = `<ObjectLockConfiguration><ObjectLockEnabled>Enabled</ObjectLockEnabled>${rule}</ObjectLockConfiguration>`
  return server.raw('PUT', `/${bucket}?object-lock`, { body })
}

export interface OfVersion {
  readonly versionId?: string | undefined
  readonly headers?: readonly HeaderLine[]
}

/** @param target bucket and key as in a path */
export function setRetention(
  server: TestServer,
  target: string,
  { mode, until }: WireLock,
  { versionId, headers = [] }: OfVersion = {},
): Promise<WireAnswer> {
  const inner = [mode && `<Mode>${mode}</Mode>`, until && `<RetainUntilDate>${until}</RetainUntilDate>`]
  const body = `<Retention>${inner.join('')}</Retention>`
  return server.raw('PUT', `/${target}?retention${named(versionId)}`, { body, headers })
}

export function setLegalHold(
  server: TestServer,
  target: string,
  hold: string,
  { versionId, headers = [] }: OfVersion = {},
): Promise<WireAnswer> {
  const body = `<LegalHold><Status>${hold}</Status></LegalHold>`
  return server.raw('PUT', `/${target}?legal-hold${named(versionId)}`, { body, headers })
}

/** The retention and hold of a version as their own operations tell them; undefined where they answer 404. */
export async function lockDocuments(server: TestServer, target: string, versionId?: string): Promise<WireLock> {
  const retention = await server.raw('GET', `/${target}?retention${named(versionId)}`)
  const hold = await server.raw('GET', `/${target}?legal-hold${named(versionId)}`)
  const told: Record<string, string> = {}
  for (const [field, xml, name] of [
    ['mode', retention, 'Mode'],
    ['until', retention, 'RetainUntilDate'],
    ['hold', hold, 'Status'],
  ] as const) {
    const value = firstElement(xml.text, name)
    if (value !== undefined) told[field] = value
  }
  return told
}

function named(versionId: string | undefined): string {
  return versionId === undefined ? '' : `&versionId=${versionId}`
}
