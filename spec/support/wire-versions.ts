/** Versions over the wire: the requests that make them, and what ListObjectVersions says of them. */
import type { HeaderLine } from '../../planes/http/exchange.ts'
import type { TestServer } from './test-clients.ts'
import { blocks, firstElement, type WireAnswer } from './wire-client.ts'

/** A version or a delete marker in a listing. */
export interface WireVersion {
  readonly kind: 'version' | 'marker'
  readonly key: string
  readonly id: string
  readonly isLatest: boolean
  /** With its quotes; undefined for a marker. */
  readonly etag: string | undefined
  readonly size: number | undefined
}

export interface VersionQuery {
  readonly prefix?: string
  readonly delimiter?: string
  readonly keyMarker?: string
  readonly versionIdMarker?: string
  readonly maxKeys?: number
}

export interface VersionPage {
  /** In the order of the document. */
  readonly entries: readonly WireVersion[]
  readonly prefixes: readonly string[]
  readonly maxKeys: number
  readonly truncated: boolean
  readonly nextKeyMarker: string | undefined
  readonly nextVersionIdMarker: string | undefined
}

const VERSIONING = { enabled: 'Enabled', suspended: 'Suspended' } as const

export async function createBucket(server: TestServer, bucket: string, headers: HeaderLine[] = []): Promise<void> {
  requireStatus(await server.raw('PUT', `/${bucket}`, { headers }), 200)
}

export async function setVersioning(
  server: TestServer,
  bucket: string,
  versioning: keyof typeof VERSIONING,
): Promise<void> {
  const body = `<VersioningConfiguration><Status>${VERSIONING[versioning]}</Status></VersioningConfiguration>`
  requireStatus(await server.raw('PUT', `/${bucket}?versioning`, { body }), 200)
}

/** Writes an object; gives its version id as the answer tells it. @param target bucket and key as in a path */
export async function put(
  server: TestServer,
  target: string,
  body: Buffer | string,
  headers: readonly HeaderLine[] = [],
): Promise<string | undefined> {
  return versionIdOf(requireStatus(await server.raw('PUT', `/${target}`, { body, headers }), 200))
}

/** Deletes a key or, given its id, a version; gives the version id of the answer. */
export async function remove(server: TestServer, target: string, versionId?: string): Promise<string | undefined> {
  const query = versionId === undefined ? '' : `?versionId=${versionId}`
  return versionIdOf(requireStatus(await server.raw('DELETE', `/${target}${query}`), 204))
}

export function versionIdOf(answer: WireAnswer): string | undefined {
  const id = answer.headers['x-amz-version-id']
  return typeof id === 'string' ? id : undefined
}

function requireStatus(answer: WireAnswer, status: number): WireAnswer {
  if (answer.status !== status) throw new Error(`${answer.status} instead of ${status}: ${answer.text}`)
  return answer
}

/** One page, asked for with `encoding-type=url`, so that any key can be read back. */
export async function versionPage(server: TestServer, bucket: string, query: VersionQuery = {}): Promise<VersionPage> {
  const parameters: readonly [name: string, value: string | number | undefined][] = [
    ['prefix', query.prefix],
    ['delimiter', query.delimiter],
    ['key-marker', query.keyMarker],
    ['version-id-marker', query.versionIdMarker],
    ['max-keys', query.maxKeys],
  ]
  const given = parameters.filter(([, value]) => value !== undefined)
  const text = given.map(([name, value]) => `&${name}=${encodeURIComponent(value ?? '')}`).join('')
  const answer = requireStatus(await server.raw('GET', `/${bucket}?versions&encoding-type=url${text}`), 200)
  return readPage(answer.text)
}

function readPage(xml: string): VersionPage {
  const nextKeyMarker = firstElement(xml, 'NextKeyMarker')
  return {
    entries: versionsIn(xml).map((version) => ({ ...version, key: decodeURIComponent(version.key) })),
    prefixes: blocks(xml, 'CommonPrefixes').map((block) => decodeURIComponent(firstElement(block, 'Prefix') ?? '')),
    maxKeys: Number(firstElement(xml, 'MaxKeys')),
    truncated: firstElement(xml, 'IsTruncated') === 'true',
    nextKeyMarker: nextKeyMarker === undefined ? undefined : decodeURIComponent(nextKeyMarker),
    nextVersionIdMarker: firstElement(xml, 'NextVersionIdMarker'),
  }
}

/** Versions and markers of a listing, keys as they are written there. */
export function versionsIn(xml: string): WireVersion[] {
  return [...xml.matchAll(/<(Version|DeleteMarker)>([^]*?)<\/\1>/g)].map(([, name, inner = '']) => {
    const size = firstElement(inner, 'Size')
    return {
      kind: name === 'Version' ? 'version' : 'marker',
      key: firstElement(inner, 'Key') ?? '',
      id: firstElement(inner, 'VersionId') ?? '',
      isLatest: firstElement(inner, 'IsLatest') === 'true',
      etag: firstElement(inner, 'ETag'),
      size: size === undefined ? undefined : Number(size),
    }
  })
}

/** Every page of a listing. A page that is not what its own numbers say is an error. */
export async function versionPages(
  server: TestServer,
  bucket: string,
  query: VersionQuery,
  maxKeys: number,
): Promise<VersionPage[]> {
  const pages: VersionPage[] = []
  let at: Pick<VersionQuery, 'keyMarker' | 'versionIdMarker'> = {}
  for (;;) {
    const page = await versionPage(server, bucket, { ...query, ...at, maxKeys })
    const count = page.entries.length + page.prefixes.length
    if (page.truncated !== (page.nextKeyMarker !== undefined) || count > page.maxKeys) {
      throw new Error(`a page contradicts itself: ${JSON.stringify(page)}`)
    }
    if (page.truncated && count !== page.maxKeys) throw new Error('a page is cut off before it is full')
    pages.push(page)
    if (page.nextKeyMarker === undefined) return pages
    const { nextKeyMarker: keyMarker, nextVersionIdMarker: versionIdMarker } = page
    at = versionIdMarker === undefined ? { keyMarker } : { keyMarker, versionIdMarker }
  }
}

/** The versions of one key, newest first, as `id` or `id (marker)`; the latest ends with `*`. */
export async function historyOf(server: TestServer, bucket: string, key: string): Promise<string[]> {
  const { entries } = await versionPage(server, bucket, { prefix: key })
  return entries.filter((entry) => entry.key === key).map(nameOf)
}

function nameOf({ id, kind, isLatest }: WireVersion): string {
  return `${id}${kind === 'marker' ? ' (marker)' : ''}${isLatest ? '*' : ''}`
}
