/** Everything that has a bound, beyond it: refused without being read to its end, and never a fault (S25). */
import type { HeaderLine } from '../../../planes/http/exchange.ts'
import type { QueryParameter } from '../../../planes/s3/request/query-parameters.ts'
import { type Arena, BUCKET } from './arena.ts'
import type { Assault } from './assault.ts'
import { bytesOf, apiBytes, type Signable, signed } from './signed-requests.ts'

const KIBIBYTE = 1024
/** Below the bound of a head, which is tried with the malformed requests. */
const LONG = 12 * KIBIBYTE
const GIBIBYTE = KIBIBYTE ** 3

interface Case extends Signable {
  readonly statuses: readonly number[]
}

const long = 'x'.repeat(LONG)

function part(number: number): string {
  return `<Part><PartNumber>${number}</PartNumber><ETag>"${'0'.repeat(32)}"</ETag></Part>`
}

function completion(parts: number): string {
  const all = Array.from({ length: parts }, (_, index) => part(index + 1)).join('')
  return `<CompleteMultipartUpload>${all}</CompleteMultipartUpload>`
}

function rules(count: number): string {
  const rule = '<CORSRule><AllowedOrigin>*</AllowedOrigin><AllowedMethod>GET</AllowedMethod></CORSRule>'
  return `<CORSConfiguration>${rule.repeat(count)}</CORSConfiguration>`
}

const LISTS: readonly QueryParameter[][] = [
  [['prefix', long]],
  [['delimiter', long]],
  [['start-after', long]],
  [['continuation-token', long]],
  [['continuation-token', 'AAAA']],
  [['max-keys', '1000000000']],
  [['max-keys', '9'.repeat(400)]],
  [['max-keys', '-1']],
  [['encoding-type', long]],
  Array.from({ length: 2000 }, (_, index): QueryParameter => [`a${index}`, '']),
  Array.from({ length: 500 }, (): QueryParameter => ['prefix', 'a']),
]

function get(name: string, headers: readonly HeaderLine[]): Case {
  return { name, method: 'GET', path: `/${BUCKET}/key`, headers, statuses: [200, 206, 304, 400, 412, 416] }
}

function casesOf({ uploads }: Arena): Case[] {
  const object = `/${BUCKET}/oversized`
  const upload: QueryParameter = ['uploadId', uploads.open]
  const refused = { method: 'PUT', path: `/${BUCKET}/open`, statuses: [400] }
  const put = (name: string, headers: readonly HeaderLine[], ...statuses: number[]): Case => {
    return { name, method: 'PUT', path: object, headers, body: 'x', statuses }
  }
  const metadata = Array.from({ length: 60 }, (_, index): HeaderLine => [`x-amz-meta-${index}`, 'x'.repeat(60)])
  return [
    put('metadata of 12 KiB', [['x-amz-meta-a', long]], 400),
    put('metadata of many headers', metadata, 400),
    put('metadata of a name of 5 KiB', [[`x-amz-meta-${'x'.repeat(5 * KIBIBYTE)}`, 'x']], 400),
    put('type of 12 KiB', [['content-type', long]], 200, 400),
    put('digest of 12 KiB', [['content-md5', long]], 400),
    put('checksum of 12 KiB', [['x-amz-checksum-crc32', long]], 400),
    put('copy source of 12 KiB', [['x-amz-copy-source', long]], 400, 404),
    put('lock of 12 KiB', [['x-amz-object-lock-mode', long]], 400),
    get('ranges, many', [['range', `bytes=${'0-0,'.repeat(3000)}1-1`]]),
    get('range of long numbers', [['range', `bytes=0-${'9'.repeat(LONG)}`]]),
    get('condition of 12 KiB', [['if-none-match', long]]),
    get('conditions, many', [['if-match', '"a",'.repeat(3000)]]),
    get('date of 12 KiB', [['if-modified-since', long]]),
    ...LISTS.map((query) => ({
      name: `list with ${query[0]?.[0]} of ${JSON.stringify(query).length} bytes`,
      method: 'GET',
      path: `/${BUCKET}`,
      query: [['list-type', '2'] as const, ...query],
      statuses: [200, 400],
    })),
    ...[0, -1, 10_001, 1e9].map((number) => {
      const query: QueryParameter[] = [['partNumber', String(number)], upload]
      return { ...refused, name: `part ${number}`, query, body: 'x' }
    }),
    ...[0, 10_001, 30_000].map((parts) => {
      return {
        ...refused,
        name: `completion of ${parts} parts`,
        method: 'POST',
        query: [upload],
        body: completion(parts),
      }
    }),
    ...[101, 5000, 20_000].map((count) => {
      const query: QueryParameter[] = [['cors', '']]
      return { ...refused, name: `CORS of ${count} rules`, path: `/${BUCKET}`, query, body: rules(count) }
    }),
    ...[long, 'x', ''].map((id) => {
      const query: QueryParameter[] = [['uploadId', id]]
      return { name: `upload ${id.length}`, method: 'GET', path: object, query, statuses: [400, 404] }
    }),
  ]
}

/** Lengths that are announced and never sent: the answer comes before the body. */
const LENGTHS = [5 * GIBIBYTE + 1, 2 ** 40, 999_999_999_999_999]

export async function attackBounds(assault: Assault): Promise<void> {
  await assault.onS3('oversized requests', casesOf(assault.arena), async (lane, { statuses, ...signable }) => {
    await assault.signed(lane, signable, statuses, statuses.includes(200))
  })
  const targets = [`/${BUCKET}/oversized`, `/${BUCKET}?cors`, `/${BUCKET}`]
  const announced = LENGTHS.flatMap((length) => targets.map((target) => ({ length, target })))
  await assault.onS3('lengths that are announced', announced, async (lane, { length, target }) => {
    const name = `PUT ${target} of ${length} bytes`
    const [path = '', query] = target.split('?')
    const request = signed(assault.arena, {
      name,
      method: 'PUT',
      path,
      query: query === undefined ? [] : [[query, '']],
      headers: [['expect', '100-continue']],
      payloadHash: 'UNSIGNED-PAYLOAD',
    })
    const bytes = bytesOf({ ...request, headers: [...request.headers, ['content-length', String(length)]] })
    await assault.expect(lane, { name, method: 'PUT', bytes, mayChange: false }, [400, 413])
    lane.close()
  })
  await announcedToApi(assault)
}

const ROUTES = ['POST /api/v1/buckets', 'POST /api/v1/policies', 'PUT /api/v1/buckets/attack-victim/object/a']

async function announcedToApi(assault: Assault): Promise<void> {
  const cases = ROUTES.flatMap((route) => LENGTHS.map((length) => ({ route, length })))
  await assault.onApi('lengths that are announced to the management plane', cases, async (lane, { route, length }) => {
    const [method = '', target = ''] = route.split(' ')
    const bytes = apiBytes(assault.arena, method, target, { headers: [['content-length', String(length)]] })
    await assault.expect(lane, { name: `${route} of ${length} bytes`, method, bytes, mayChange: false }, [400, 413])
    lane.close()
  })
}
