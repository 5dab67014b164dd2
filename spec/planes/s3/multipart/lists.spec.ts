/**
 * ListParts and ListMultipartUploads: pages, markers, order, prefixes.
 * Proves: DO-CAP-03.
 */
import tap, { test } from 'tap'
import { byUtf8 } from '../../../model/naive-listing.ts'
import { PREFIX_MARK } from '../../../support/model/list-model.ts'
import { abort, createUpload, sendPart, uploadTarget } from '../../../support/multipart.ts'
import { startInThread } from '../../../support/test-server.ts'
import { isDone, isError } from '../../../support/wire-assertions.ts'
import { blocks, elements, firstElement } from '../../../support/wire-client.ts'

const server = await startInThread()
tap.teardown(() => server.stop())
const { raw } = server

interface PartsPage {
  readonly numbers: readonly number[]
  readonly marker: number
  readonly next: string | undefined
  readonly maxParts: number
  readonly truncated: boolean
}

async function listParts(target: string, upload: string, query: string): Promise<PartsPage> {
  const answer = await raw('GET', `${uploadTarget(target, upload)}${query}`)
  if (answer.status !== 200) throw new Error(`${query}: ${answer.text}`)
  return {
    numbers: elements(answer.text, 'PartNumber').map(Number),
    marker: Number(firstElement(answer.text, 'PartNumberMarker')),
    next: firstElement(answer.text, 'NextPartNumberMarker'),
    maxParts: Number(firstElement(answer.text, 'MaxParts')),
    truncated: firstElement(answer.text, 'IsTruncated') === 'true',
  }
}

test('the parts of an upload, page by page', async (t) => {
  await raw('PUT', '/parts-bucket')
  const target = '/parts-bucket/many'
  const upload = await createUpload(server, target)
  const numbers = Array.from({ length: 1234 }, (_, index) => (index < 34 ? 9967 + index : 3 * (index - 33)))
  for (let at = 0; at < numbers.length; at += 100) {
    await Promise.all(
      numbers.slice(at, at + 100).map((number) => sendPart(server, target, upload, number, `${number}`)),
    )
  }
  const all = numbers.toSorted((left, right) => left - right)
  const first = await listParts(target, upload, '')
  t.same(first, { numbers: all.slice(0, 1000), marker: 0, next: String(all[999]), maxParts: 1000, truncated: true })
  const second = await listParts(target, upload, `&part-number-marker=${first.next}`)
  t.same(second.numbers, all.slice(1000))
  t.match(second, { marker: all[999], next: undefined, truncated: false })
  for (const maxParts of [1, 7, 617, 1233, 1234, 1235, 5000]) {
    const found: number[] = []
    let marker: string | undefined = '0'
    while (marker !== undefined) {
      const page: PartsPage = await listParts(target, upload, `&max-parts=${maxParts}&part-number-marker=${marker}`)
      if (page.numbers.length > maxParts || page.truncated !== (page.next !== undefined))
        throw new Error('a wrong page')
      if (page.maxParts !== Math.min(maxParts, 1000)) throw new Error(`max-parts ${maxParts} became ${page.maxParts}`)
      found.push(...page.numbers)
      marker = page.next
      if (maxParts === 1 && found.length > 20) break
    }
    t.same(found, all.slice(0, found.length), `pages of ${maxParts}`)
    t.equal(found.length, maxParts === 1 ? 21 : all.length)
  }
  const odd: [query: string, expected: readonly number[]][] = [
    ['&max-parts=0', []],
    ['&max-parts=', all.slice(0, 1000)],
    ['&part-number-marker=', all.slice(0, 1000)],
    ['&part-number-marker=9999', [10_000]],
    ['&part-number-marker=10000', []],
    ['&part-number-marker=2147483647', []],
    ['&part-number-marker=4&max-parts=2', [6, 9]],
    ['&encoding-type=url&max-parts=1', [3]],
  ]
  for (const [query, expected] of odd) t.same((await listParts(target, upload, query)).numbers, expected, query)
  t.equal((await listParts(target, upload, '&max-parts=0')).truncated, false)
  for (const query of [
    '&max-parts=-1',
    '&max-parts=x',
    '&max-parts=1.5',
    '&part-number-marker=-1',
    '&part-number-marker=a',
    '&part-number-marker=2147483648',
  ]) {
    isError(t, await raw('GET', `${uploadTarget(target, upload)}${query}`), 'InvalidArgument', query)
  }
  isDone(t, await abort(server, target, upload), 204, 'abort')
})

interface UploadsPage {
  /** Key and number of each upload, common prefixes marked, in the order of their names. */
  readonly entries: readonly string[]
  readonly nextKey: string | undefined
  readonly nextUpload: string | undefined
  readonly truncated: boolean
}

interface UploadsQuery {
  readonly prefix?: string
  readonly delimiter?: string
  readonly 'key-marker'?: string | undefined
  readonly 'upload-id-marker'?: string | undefined
  readonly 'max-uploads'?: number | undefined
}

/** Uploads by their ids: the key and which one of the key it is. */
const names = new Map<string, string>()

async function listUploads(bucket: string, query: UploadsQuery): Promise<UploadsPage> {
  const given = Object.entries(query).filter(([, value]) => value !== undefined)
  const text = given.map(([name, value]) => `&${name}=${encodeURIComponent(String(value))}`).join('')
  const answer = await raw('GET', `${bucket}?uploads&encoding-type=url${text}`)
  if (answer.status !== 200) throw new Error(answer.text)
  const uploads = blocks(answer.text, 'Upload').map((block) => {
    const key = decodeURIComponent(firstElement(block, 'Key') ?? '')
    const name = names.get(firstElement(block, 'UploadId') ?? '') ?? 'unknown'
    if (name.slice(0, -2) !== key) throw new Error(`${key} has the upload ${name}`)
    return name
  })
  const prefixes = blocks(answer.text, 'CommonPrefixes').map(
    (block) => `${decodeURIComponent(firstElement(block, 'Prefix') ?? '')}${PREFIX_MARK}`,
  )
  const nextKey = firstElement(answer.text, 'NextKeyMarker')
  return {
    entries: [...uploads, ...prefixes].toSorted(byUtf8),
    nextKey: nextKey === undefined ? undefined : decodeURIComponent(nextKey),
    nextUpload: firstElement(answer.text, 'NextUploadIdMarker'),
    truncated: firstElement(answer.text, 'IsTruncated') === 'true',
  }
}

test('markers of a list of uploads', async (t) => {
  const bucket = '/markers-bucket'
  await raw('PUT', bucket)
  const ids: string[] = []
  for (const [index, key] of ['a/', 'a/', 'a/x', 'a/x', 'a/x', 'b'].entries()) {
    const id = await createUpload(server, `${bucket}/${key}`)
    ids.push(id)
    names.set(id, `${key}\u0000${index}`)
  }
  const list = async (query: UploadsQuery) =>
    (await listUploads(bucket, query)).entries.map((entry) => entry.replaceAll('\u0000', ' '))
  t.same(await list({ 'key-marker': 'a/' }), ['a/x 2', 'a/x 3', 'a/x 4', 'b 5'], 'behind all uploads of a key')
  t.same(await list({ 'key-marker': 'a/x', 'upload-id-marker': ids[2] }), ['a/x 3', 'a/x 4', 'b 5'], 'behind one')
  t.same(
    await list({ 'upload-id-marker': ids[2] }),
    ['a/ 0', 'a/ 1', 'a/x 2', 'a/x 3', 'a/x 4', 'b 5'],
    'alone it is ignored',
  )
  t.same(await list({ 'key-marker': '', 'upload-id-marker': ids[2] }), await list({}), 'an empty one is none')
  t.same(await list({ 'key-marker': 'a', delimiter: '/' }), [`a/${PREFIX_MARK.replace('\u0000', ' ')}`, 'b 5'])
  t.same(await list({ 'key-marker': 'a/', delimiter: '/' }), ['b 5'], 'behind a common prefix')
  t.same(
    await list({ 'key-marker': 'a/', delimiter: '/', prefix: 'a/' }),
    ['a/x 2', 'a/x 3', 'a/x 4'],
    'behind a key that ends with the delimiter',
  )
  t.same(await list({ 'key-marker': 'a/', 'upload-id-marker': ids[0], delimiter: '/', prefix: 'a/' }), [
    'a/ 1',
    'a/x 2',
    'a/x 3',
    'a/x 4',
  ])
  await abort(server, `${bucket}/a/x`, ids[3] ?? '')
  t.same(await list({ 'key-marker': 'a/x', 'upload-id-marker': ids[3] }), ['a/x 4', 'b 5'], 'behind one that is gone')
  t.same(await list({ 'key-marker': 'z' }), [])
  t.same(await list({ 'key-marker': 'x'.repeat(2000) }), [])
  t.same(await list({ 'max-uploads': 0 }), [])
  t.equal((await listUploads(bucket, { 'max-uploads': 0 })).truncated, false)
  for (const query of ['max-uploads=-1', 'max-uploads=x', 'encoding-type=base64']) {
    isError(t, await raw('GET', `${bucket}?uploads&${query}`), 'InvalidArgument', query)
  }
  isError(t, await raw('GET', '/markers-none?uploads'), 'NoSuchBucket', 'no bucket')
  const unknown = await raw('GET', `${bucket}?uploads&key-marker=a/x&upload-id-marker=nonsense`)
  isError(t, unknown, 'InvalidArgument', 'a marker that is no upload id')
})

test('nothing of all this was a fault of the server', async (t) => {
  t.same(server.failures, [])
  t.equal(server.gate.active, 0)
})
