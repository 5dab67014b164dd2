/** The longest head for each operation and each route, and documents of what answers escape: every refusal stays short. */
import { routeList } from '../../../planes/management/routing/route-list.ts'
import { isServed } from '../../../planes/s3/handling/operation.ts'
import { OPERATIONS } from '../../../planes/s3/operation-list.ts'
import { canBeSigned, filled, longBodies, longRequests, longRouteRequests } from '../../support/longest-requests.ts'
import { ARENA_EXTENSIONS, BUCKET, OTHER_BUCKET } from './arena.ts'
import type { Assault } from './assault.ts'
import { ENDLESS } from './management-routes.ts'
import { requestBytes } from '../../support/raw/request-text.ts'
import { apiBytes, bytesOf, signed } from './signed-requests.ts'

/** Of each operation so many of its requests, by turns with the seed: all of them are in a spec of the planes. */
const OF_EACH = 3

export async function attackLongest(assault: Assault): Promise<string> {
  const { arena, random } = assault
  const heads = OPERATIONS.flatMap((operation, at) => {
    const all = longRequests(operation, OTHER_BUCKET, at)
    return Array.from({ length: OF_EACH }, () => ({ operation, request: random.of(all) }))
  })
  await assault.onS3('the longest heads', heads, async (lane, { operation, request }) => {
    const { method, target, headers } = request
    const name = `${operation.name}: ${method} ${target.slice(0, 100)} ${headers.join().slice(0, 100)}`
    const { wire } = arena.server
    const unsigned = [['host', wire.host] as const, ...headers]
    const stranger = requestBytes(method, target, unsigned, '')
    await assault.ask(lane, { name: `a stranger: ${name}`, method, bytes: stranger, mayChange: false })
    if (!isServed(operation, ARENA_EXTENSIONS) || !canBeSigned(target)) return
    const bytes = requestBytes(method, target, wire.headersOf(method, target, { headers }), '')
    await assault.ask(lane, { name, method, bytes, mayChange: true })
  })
  await attackDocuments(assault)
  return attackRoutes(assault)
}

async function attackDocuments(assault: Assault): Promise<void> {
  const { open } = assault.arena.uploads
  const documents = ["'", '"', '&#65;', '&amp;', '\r'].map((fill) => {
    const etag = filled(fill, 4 * 1024 ** 2 - 200)
    return `<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>${etag}</ETag></Part></CompleteMultipartUpload>`
  })
  await assault.onS3('the longest documents', documents, async (lane, body) => {
    const name = `a completion of ${body.slice(60, 70)}`
    const signable = { name, method: 'POST', path: `/${BUCKET}/open`, query: [['uploadId', open] as const], body }
    const request = signed(assault.arena, signable)
    await assault.expect(lane, { name, method: 'POST', bytes: bytesOf(request), mayChange: false }, [400])
  })
}

async function attackRoutes(assault: Assault): Promise<string> {
  const { arena, random } = assault
  const routes = routeList.filter(({ path }) => path !== ENDLESS)
  const bodies = longBodies()
  await assault.onApi('the longest requests to routes', routes, async (lane, route) => {
    const { method, target } = random.of(longRouteRequests(route, random.below(100)))
    const name = `${method} ${target.slice(0, 100)}`
    const body = route.body === 'none' ? '' : random.of(bodies)
    const common = { method, mayChange: true, isRecorded: false }
    await assault.ask(lane, { name, bytes: apiBytes(arena, method, target, { body }), ...common })
    await assault.ask(lane, {
      name: `${name} of nobody`,
      bytes: apiBytes(arena, method, target, { token: 'x' }),
      ...common,
    })
  })
  return `${routes.length} routes`
}
