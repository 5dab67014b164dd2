/**
 * Every route by everyone: all roles, all credentials that are none, all methods, and names that do not exist.
 * Proves: DO-LIS-08, DO-NOT-19, RES-AUD-07, RES-AUD-08, RES-AUD-16, API-GEN-01, API-GEN-02, API-PRO-01, API-PRO-04,
 * API-SYS-04, API-AUD-10, API-AUD-12, API-AUD-13, AUT-MGT-01, AUT-MGT-02, AUT-MGT-03, AUT-MGT-04, AUT-MGT-05,
 * AUT-MGT-07, AUT-MGT-08, AUT-MGT-09, AUT-MET-01, EVT-AUD-04, ERR-MGT-01, LIM-VAL-05, VER-ANY-01.
 */
import type { Block } from '../block.ts'
import type { Caller } from '../asking.ts'
import { ADMINISTRATOR, type Talk } from '../talk.ts'
import { hasAnyNumbers, JSON_ROWS, ROUTE_ROWS, type RouteRow } from './route-rows.ts'
import { bearer, filled, makeScene, type Scene, SPELLINGS, STRANGERS } from './scene.ts'
import { SCRAPE_TOKEN } from '../server.ts'

const METHODS: readonly string[] = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE', 'get']

function askRow(talk: Talk, row: RouteRow, scene: Scene, as: Caller | null, method = row.method): Promise<unknown> {
  const path = filled(row.path, scene.values)
  const body = row.body === undefined ? {} : { body: filled(row.body, scene.values) }
  return talk.api(method, path, { as, ...body, ...(hasAnyNumbers(path) ? { anyNumbers: true } : {}) })
}

async function everyRole(talk: Talk): Promise<void> {
  const scene = await makeScene(talk)
  // Those who may nothing come first, while everything is still there.
  for (const caller of scene.callers.toReversed()) {
    for (const row of ROUTE_ROWS) await askRow(talk, row, scene, caller)
  }
}

async function strangers(talk: Talk): Promise<void> {
  const scene = await makeScene(talk)
  for (const row of ROUTE_ROWS) await askRow(talk, row, scene, null)
  for (const stranger of STRANGERS) {
    for (const row of ROUTE_ROWS.filter(() => talk.random.once(10))) await askRow(talk, row, scene, stranger)
  }
  for (const caller of SPELLINGS) await talk.api('GET', '/auth/session', { as: caller })
  const scrapers = [bearer('the scrape token', SCRAPE_TOKEN), bearer('another token', 'x'), null]
  for (const as of scrapers) await talk.api('GET', '/metrics', { as, anyNumbers: true })
}

async function methods(talk: Talk): Promise<void> {
  const scene = await makeScene(talk)
  const paths = new Set(ROUTE_ROWS.map(({ path }) => path.replace(/\?.*/, '')))
  for (const path of paths) {
    const own = ROUTE_ROWS.filter((row) => row.path.startsWith(path)).map(({ method }) => method)
    for (const method of METHODS.filter((each) => !own.includes(each) && (each === 'HEAD' || talk.random.once(2)))) {
      // No numbers of a head are told: a length of a body that is not there cannot be held against it.
      const anyNumbers = method === 'HEAD'
      await talk.api(method, filled(path, scene.values), anyNumbers ? { anyNumbers } : {})
    }
  }
}

const OTHER_PATHS: readonly string[] = [
  '/',
  '',
  '/api',
  '/api/',
  '/api/v1',
  '/api/v1/',
  '/api/v2/buckets',
  '/api/v1/buckets/',
  '/api/v1//buckets',
  '/api/v1/Buckets',
  '/api/v1/buckets/x/unknown',
  '/api/v1/buckets//objects',
  '/api/v1/buckets/x/object',
  '/api/v1/buckets/x/object/',
  '/api/v1/buckets/x/object//',
  '/api/v1/service-accounts/',
  '/api/v1/service-accounts/x/y/z',
  '/health/',
  '/healthz',
  '/ready?x=1',
  '/health?x=1',
  '/metrics?x=1',
  '/api/v1/buckets?x=1',
  '/api/v1/buckets?x',
  '/api/v1/auth/session?',
  '/api/v1/auth/session?&&',
  '/api/v1/buckets?=',
  '/api/v1/buckets?%zz=1',
  `/api/v1/buckets/x?${'q'.repeat(100)}=1`,
  '/api/v1/buckets/%zz',
  '/api/v1/buckets/%FF',
  '/api/v1/buckets/%2F',
  '/api/v1/buckets/..',
  '/api/v1/buckets/%2e%2e',
  '/favicon.ico',
  '/console',
  '*',
]

async function elsewhere(talk: Talk): Promise<void> {
  for (const path of OTHER_PATHS.filter((each) => each !== '')) {
    const target = path === '/' ? '/api/' : path
    for (const method of ['GET', 'POST', 'DELETE']) await talk.api(method, target, { fresh: path === '*' })
    await talk.api('GET', target, { as: null, fresh: path === '*' })
  }
  const values = {
    bucket: `${talk.block}-none`,
    key: 'none',
    account: `sa-${'a'.repeat(20)}`,
    credential: `cred-${'a'.repeat(20)}`,
    policy: `pol-${'a'.repeat(20)}`,
    token: `tok-${'a'.repeat(20)}`,
  }
  const there = ROUTE_ROWS.filter(({ path }) => path.includes('{'))
  for (const row of there) await askRow(talk, row, { values, callers: [] }, ADMINISTRATOR)
  const odd = {
    ...values,
    bucket: 'Odd%20Name',
    key: '%00',
    account: 'x',
    credential: '%20',
    policy: 'p%2Fq',
    token: '~',
  }
  for (const row of there) await askRow(talk, row, { values: odd, callers: [] }, ADMINISTRATOR)
}

/** Bodies that are not a JSON object, or have a member that no route knows. */
const BODIES: readonly (string | Buffer)[] = [
  '',
  ' ',
  'null',
  'true',
  '1',
  '"text"',
  '[]',
  '[{}]',
  '{',
  '{"a":1,}',
  "{'a':1}",
  '{}{}',
  '{"unknown_member":1}',
  `{"${'m'.repeat(100)}":1}`,
  '{"__proto__":{}}',
  '{"constructor":1}',
  '\ufeff{}',
  Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]),
  Buffer.from('{}', 'utf16le'),
]

async function bodies(talk: Talk): Promise<void> {
  const scene = await makeScene(talk)
  const rows = JSON_ROWS.filter(({ path }) => !/lifecycle|webhooks|shares|embeds/.test(path))
  for (const row of rows) {
    const path = filled(row.path, scene.values)
    const anyNumbers = hasAnyNumbers(path)
    for (const body of BODIES) await talk.api(row.method, path, { body, anyNumbers })
    const good = filled(row.body ?? '', scene.values)
    const unknown = { body: good.replace('{', '{"unknown_member":null,'), anyNumbers }
    await talk.api(row.method, path, unknown)
    await talk.api(row.method, `${path}?unknown=1`, { body: good, anyNumbers })
    await talk.api(row.method, path, { body: good, headers: ['content-type: text/html'], anyNumbers })
  }
  for (const size of [1024 ** 2, 1024 ** 2 + 1, 3 * 1024 ** 2]) {
    await talk.api('POST', '/service-accounts', { body: `{"name":"${'n'.repeat(size - 11)}"}`, fresh: true })
  }
  await talk.api('POST', '/service-accounts', { body: '{"name":"in chunks"}', chunked: true })
  await talk.api('POST', '/service-accounts', { body: '{"name":"x"}', length: 'none', fresh: true })
}

export const ROUTE_BLOCKS: readonly Block[] = [
  { name: 'api-roles', alone: true, steady: true, run: everyRole },
  { name: 'api-strangers', run: strangers },
  { name: 'api-methods', run: methods },
  { name: 'api-elsewhere', run: elsewhere },
  { name: 'api-bodies', run: bodies },
]
