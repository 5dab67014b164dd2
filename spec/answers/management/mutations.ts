/** Good requests to the management plane with something changed by chance, the same chance in every run. */
import type { Block } from '../block.ts'
import type { Random } from '../random.ts'
import type { Talk } from '../talk.ts'
import { filled, makeScene, tokenOf } from './scene.ts'
import { hasAnyNumbers, ROUTE_ROWS, type RouteRow } from './route-rows.ts'

const QUERIES: readonly string[] = [
  'limit=1',
  'limit=x',
  'after=a',
  'version_id=null',
  'version_id=x',
  'prefix=%FF',
  'unknown=1',
  'limit=1&limit=1',
  'bucket=x',
  'format=csv',
  'delimiter=/',
]
const PATH_PARTS: readonly string[] = ['/', '%2F', '%00', '/x', '..', '%zz', '%20', '?']
const MARKS: readonly string[] = ['{', '}', '[', ']', '"', ',', ':', '1', 'null', '\\', '\u0000', 'ä', '', '', 'true']
const HEADERS: readonly string[] = [
  'if-none-match: *',
  'if-match: "x"',
  'content-type: text/html',
  'range: bytes=0-0',
  'x-request-id: not an id',
  'accept: text/csv',
  'content-encoding: gzip',
  'expect: 100-continue',
]

function splice(random: Random, text: string): string {
  const at = random.below(text.length + 1)
  return text.slice(0, at) + random.pick(MARKS) + text.slice(at + random.below(3))
}

/** Lists of the whole store and what no two runs have in common are for other blocks. */
function isOwn({ path }: RouteRow): boolean {
  return (
    /\{(?:bucket|account|policy|token)\}/.test(path) && !hasAnyNumbers(path) && !/lifecycle|shares|embeds/.test(path)
  )
}

const ROUNDS = 350

async function mutations(talk: Talk): Promise<void> {
  const { random } = talk
  const scene = await makeScene(talk)
  const storage = await tokenOf(talk, 'storage-administrator')
  const rows = ROUTE_ROWS.filter(isOwn)
  for (let round = 0; round < ROUNDS; round += 1) {
    const row = random.pick(rows)
    const isHarmless = row.method !== 'DELETE' || /object/.test(row.path)
    let path = filled(row.path, scene.values)
    let method = row.method
    let body = row.body === undefined ? undefined : filled(row.body, scene.values)
    if (random.once(3)) path += (path.includes('?') ? '&' : '?') + random.pick(QUERIES)
    if (random.once(4) && path.includes('bucket')) path = path.replace(/\/(?=[^/]*$)/, `/${random.pick(PATH_PARTS)}`)
    if (random.once(8)) method = random.pick(['GET', 'HEAD', 'PUT', 'POST', 'PATCH'])
    if (body !== undefined && random.once(2)) body = splice(random, random.once(2) ? splice(random, body) : body)
    const headers = random.once(4) ? [random.pick(HEADERS)] : []
    const as = random.once(4) ? storage : undefined
    if (!isHarmless && !random.once(4)) continue
    await talk.api(method, path, {
      headers,
      ...(as === undefined ? {} : { as }),
      ...(body === undefined ? {} : { body }),
    })
    if (round % 80 === 79) await talk.api('POST', '/buckets', { body: JSON.stringify({ name: talk.bucket }) })
  }
}

export const API_MUTATION_BLOCKS: readonly Block[] = [{ name: 'api-mutations', run: mutations }]
