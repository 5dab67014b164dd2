/** A host clock that is set back under a running server and across its restart revives nothing (decision 0019). */
import { type Test, test } from 'tap'
import { ApiClient, bearer } from '../support/api-client.ts'
import { allow, newIdentity, signingOf } from '../support/identities.ts'
import type { IssuedCredential, IssuedToken } from '../support/management-records.ts'
import { type ProcessServer, startProcess } from '../support/server-process.ts'
import { SteppedClock } from '../support/stepped-clock.ts'

const SYSTEM_TOKEN = 'system-token-of-thirty-two-or-more'
const AHEAD = 1_000_000
const LIFETIME = { expires_in_seconds: 60 }

/** What one request of each kind is answered. */
interface Statuses {
  readonly share: number
  readonly embed: number
  readonly token: number
  readonly credential: number
}

const GOOD: Statuses = { share: 200, embed: 200, token: 200, credential: 200 }
const EXPIRED: Statuses = { share: 410, embed: 410, token: 401, credential: 403 }

/** One of each that expires in a minute. */
interface Made {
  readonly share: string
  readonly embed: string
  readonly token: string
  readonly credential: IssuedCredential
}

function startAt(clock: SteppedClock, dataDirectory: string, t: Test): Promise<ProcessServer> {
  const environment = { ...clock.environment, OBJECT_STORE_MANAGEMENT_SYSTEM_TOKEN: SYSTEM_TOKEN }
  return startProcess({ dataDirectory, environment, spawned: (child) => t.teardown(() => child.kill('SIGKILL')) })
}

function apiOf({ apiEndpoint }: ProcessServer): ApiClient {
  return ApiClient.of(apiEndpoint, bearer(SYSTEM_TOKEN), () => undefined)
}

/** Of a link: the listeners have other ports after a restart. */
function tokenOf({ url }: { readonly url: string }): string {
  return url.slice(url.lastIndexOf('/') + 1)
}

async function make(server: ProcessServer, account: string): Promise<Made> {
  const api = apiOf(server)
  const share = await api.get<{ url: string }>('POST', '/buckets/clocks/object-shares/a', LIFETIME)
  const origins = { allowed_origins: ['*'] }
  const embed = await api.get<{ url: string }>('POST', '/buckets/clocks/object-embeds/a', { ...LIFETIME, ...origins })
  const asked = { name: 'n', role: 'auditor', ...LIFETIME }
  const { token } = await api.get<IssuedToken>('POST', '/management-tokens', asked)
  const path = `/service-accounts/${account}/temporary-credentials`
  const credential = await api.get<IssuedCredential>('POST', path, LIFETIME)
  api.close()
  return { share: tokenOf(share), embed: tokenOf(embed), token, credential }
}

async function statusOf(url: string, headers: Readonly<Record<string, string>> = {}): Promise<number> {
  const answer = await fetch(url, { headers })
  await answer.arrayBuffer()
  return answer.status
}

async function statusesOf(server: ProcessServer, clock: SteppedClock, made: Made): Promise<Statuses> {
  const sign = { ...signingOf(made.credential).sign, now: clock.now() }
  return {
    share: await statusOf(`${server.apiEndpoint}/s/${made.share}/content`),
    embed: await statusOf(`${server.endpoint}/e/${made.embed}`),
    token: await statusOf(`${server.apiEndpoint}/api/v1/buckets`, { authorization: bearer(made.token) }),
    credential: (await server.wire.send('GET', '/clocks/a', { sign })).status,
  }
}

test('a clock that is set back revives nothing, also across a restart; what is made meanwhile works', async (t) => {
  t.setTimeout(120_000)
  const directory = t.testdir({ data: {} })
  const clock = new SteppedClock(directory)
  const dataDirectory = `${directory}/data`
  let server = await startAt(clock, dataDirectory, t)
  const put = async (target: string, body = '') => {
    const { status } = await server.wire.send('PUT', target, { body, sign: { now: clock.now() } })
    t.equal(status, 200, `PUT ${target}`)
  }
  await put('/clocks')
  await put('/clocks/a', 'bytes')
  const api = apiOf(server)
  const identity = await newIdentity({ api, endpoint: server.endpoint }, [allow(['s3:GetObject'], 'bucket:clocks/*')])
  identity.s3.destroy()
  api.close()
  const made = await make(server, identity.account.id)
  t.same(await statusesOf(server, clock, made), GOOD)

  clock.step(AHEAD)
  await put('/clocks/later')
  t.same(await statusesOf(server, clock, made), EXPIRED, 'ahead')
  clock.step(0)
  t.same(await statusesOf(server, clock, made), EXPIRED, 'set back')
  const late = await make(server, identity.account.id)
  t.same(await statusesOf(server, clock, late), GOOD, 'made while the clock is behind the journal')

  t.equal(await server.terminate(), 0)
  await server.stop()
  server = await startAt(clock, dataDirectory, t)
  t.same(await statusesOf(server, clock, made), EXPIRED, 'after a restart')
  t.same(await statusesOf(server, clock, late), GOOD)
  await server.kill9()
  server = await startAt(clock, dataDirectory, t)
  t.same(await statusesOf(server, clock, made), EXPIRED, 'and after kill -9')

  clock.step(AHEAD + 120_000)
  await put('/clocks/later')
  clock.step(0)
  t.same(await statusesOf(server, clock, late), EXPIRED, 'they expire as well')
  await server.stop()
})
