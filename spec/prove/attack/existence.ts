/** Who may not ask learns nothing of what is there, whatever else the request says (S9, S6). */
import type { HeaderLine } from '../../../planes/http/exchange.ts'
import { type Arena, BUCKET, OTHER_BUCKET } from './arena.ts'
import type { Assault } from './assault.ts'
import { everyKeyIsRefused } from './batch-deletions.ts'
import { overLanes } from './over-lanes.ts'
import type { RawAnswer } from '../../support/raw/raw-answer.ts'
import { s3Requests } from './s3-requests.ts'
import { MODES, type Mode, PAYLOAD_MODES, sentIn, type Standing, standingsOf } from './senders.ts'
import { requestBytes } from '../../support/raw/request-text.ts'

const ETAG = '"9dd4e461268c8034f5c8564e155c67a6"'
const PAST = 'Thu, 01 Jan 2015 00:00:00 GMT'

/** What could make an answer depend on the object. */
const CONDITIONS: readonly HeaderLine[][] = [
  [],
  [['range', 'bytes=0-0']],
  [['range', 'bytes=999999-']],
  [['if-match', ETAG]],
  [['if-match', '*']],
  [['if-none-match', '*']],
  [['if-modified-since', PAST]],
  [['if-unmodified-since', PAST]],
  [['origin', 'https://example.com']],
  [['x-amz-copy-source-if-match', ETAG]],
  [['expect', '100-continue']],
]
const VERSIONS = [undefined, 'null', 'never-given-out', '']

/** Names of the same length: there is something behind the first of each, and nothing behind the last. */
const PLACES: readonly (readonly [bucket: string, key: string])[] = [
  [BUCKET, 'key'],
  [BUCKET, 'kex'],
  ['attacx', 'key'],
]

interface Case {
  readonly name: string
  readonly method: string
  readonly bytes: (place: readonly [string, string]) => string
}

/** Modes that are refused for what they are, and those that know who asks. */
function sendersOf(arena: Arena): { readonly mode: Mode; readonly standing: Standing }[] {
  const standings = standingsOf(arena.signers).filter(({ allowed }) => allowed === 'nothing')
  return MODES.flatMap((mode) =>
    (mode.judges ? standings : standings.slice(0, 1)).map((standing) => ({ mode, standing })),
  )
}

function casesOf(arena: Arena): Case[] {
  const payload = PAYLOAD_MODES[1]
  if (payload === undefined) return []
  const { host } = arena.server.wire
  const requests = s3Requests(arena).filter(
    ({ operation }) => operation.handle !== undefined && operation.method !== 'OPTIONS',
  )
  return requests.flatMap((request) => {
    const { level, accepts, name } = request.operation
    if (level === 'service') return []
    const versions = accepts.includes('versionId') ? VERSIONS : [undefined]
    return sendersOf(arena).flatMap(({ mode, standing }) =>
      CONDITIONS.flatMap((condition) =>
        versions.map((version): Case => {
          const query = version === undefined ? request.query : [...request.query, ['versionId', version] as const]
          const one = { ...request, query, headers: [...request.headers, ...condition] }
          const what = condition[0]?.join(': ') ?? 'no condition'
          return {
            name: `${name} / ${mode.name} / ${standing.name} / ${what} / version ${version ?? 'none'}`,
            method: request.operation.method,
            bytes: ([bucket, key]) => {
              const path = level === 'bucket' ? `/${bucket}` : `/${bucket}/${key}`
              return sentIn(mode, { ...one, path }, payload, standing, host).bytes
            },
          }
        }),
      ),
    )
  })
}

/** What of an answer may differ between two names: the names, the id and the time. */
function shapeOf({ head, body, requestId }: RawAnswer, [bucket, key]: readonly [string, string]): string {
  const lines = head.split('\r\n').filter((line) => !/^(date|x-amz-request-id|x-request-id):/i.test(line))
  const text = [`/${bucket}/${key}`, `/${bucket}`, requestId].reduce((rest, name) => rest.replaceAll(name, '#'), body)
  return [...lines, text.replaceAll(/<ServerTime>[^<]*|<RequestTime>[^<]*/g, '')].join('\n')
}

export async function attackExistence(assault: Assault): Promise<void> {
  const cases = casesOf(assault.arena)
  // A part of them in every run: chance decides which.
  const share = cases.filter(() => assault.random.below(Math.round(SHARE / assault.part)) === 0)
  await assault.onS3('what there is, asked by who may not', share, async (lane, one) => {
    const shapes = new Map<string, string>()
    for (const place of PLACES) {
      const bytes = one.bytes(place)
      const name = `${one.name} / ${place.join('/')}`
      const answer = await assault.ask(lane, { name, method: one.method, bytes, mayChange: false })
      if (answer === undefined) return
      if (answer.status < 400 && !everyKeyIsRefused(answer))
        assault.ledger.fault('let in', name, `status ${answer.status}`, bytes)
      shapes.set(shapeOf(answer, place), bytes)
    }
    if (shapes.size === 1) return
    const [first, second] = [...shapes.keys()]
    assault.ledger.fault('leaked', one.name, `${first}\n  and\n${second}`, [...shapes.values()].at(-1))
  })
  await attackPlaces(assault)
}

const SHARE = 8
const ROUTES = ['', '/versioning', '/objects', '/object/key', '/object-content/key', '/object-proof/key', '/quota']

/** The same on the management plane: to nobody every name is like every other. */
async function attackPlaces({ arena, ledger }: Assault): Promise<void> {
  const host = arena.server.apiEndpoint.slice('http://'.length)
  const cases = ROUTES.flatMap((route) => ['GET', 'PUT', 'POST', 'DELETE'].map((method) => ({ route, method })))
  ledger.tried('what there is, asked of the management plane by nobody', cases.length)
  await overLanes(arena.apiPort, 1, cases, async (lane, { route, method }) => {
    const shapes = new Set<string>()
    for (const bucket of [OTHER_BUCKET, 'attack-othex']) {
      const target = `/api/v1/buckets/${bucket}${route}`
      const body = method === 'PUT' ? '{}' : ''
      const outcome = await lane.exchange(requestBytes(method, target, [['host', host]], body), method)
      ledger.requests += 1
      if (outcome.answer !== undefined) shapes.add(shapeOf(outcome.answer, [bucket, 'key']))
    }
    if (shapes.size === 1) return
    ledger.fault('leaked', `${method} ${route}`, [...shapes].join('\n  and\n'))
  })
}
