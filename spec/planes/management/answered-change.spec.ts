/**
 * What changed and was recorded is answered so, also where a request of somebody else removes the thing before the answer
 * is made: the answer says what this request did, as its audit record does.
 */
import tap, { test } from 'tap'
import type { CreatedAccount } from '../../support/management-records.ts'
import { startManaged } from '../../support/management-server.ts'
import { runsOf } from '../../support/share-of-cases.ts'

const server = await startManaged()
tap.teardown(() => server.stop())
const { api } = server

const ROUNDS = runsOf(30, 10)

/** Each makes a thing of its own in each round, and gives the path of the thing and the change of it. */
const RACES: Readonly<Record<string, (round: number) => Promise<{ thing: string; path: string; body: object }>>> = {
  'the status of an account': async (round) => {
    const { account } = await api.get<CreatedAccount>('POST', '/service-accounts', { name: `status ${round}` })
    const thing = `/service-accounts/${account.id}`
    return { thing, path: `${thing}/status`, body: { enabled: false } }
  },
  'the status of a credential': async (round) => {
    const created = await api.get<CreatedAccount>('POST', '/service-accounts', { name: `credential ${round}` })
    const thing = `/service-accounts/${created.account.id}`
    const path = `${thing}/credentials/${created.credential.credential_id}/status`
    return { thing, path, body: { enabled: false } }
  },
  'a quota': async (round) => {
    const thing = `/buckets/quota-${round}`
    await api.get('POST', '/buckets', { name: `quota-${round}` })
    return {
      thing,
      path: `${thing}/quota`,
      body: { quota: { bytes: { mode: 'unlimited' }, objects: { mode: 'unlimited' } } },
    }
  },
  'a default retention': async (round) => {
    const thing = `/buckets/retention-${round}`
    await api.get('POST', '/buckets', { name: `retention-${round}`, object_lock: true })
    return { thing, path: `${thing}/default-retention`, body: { default_retention: null } }
  },
}

for (const [name, make] of Object.entries(RACES)) {
  test(`${name}, while the thing is deleted`, async (t) => {
    const wrong: string[] = []
    for (let round = 0; round < ROUNDS; round++) {
      const { thing, path, body } = await make(round)
      const [changed] = await Promise.all([api.call('PUT', path, body), api.call('DELETE', thing)])
      const query = new URLSearchParams({ request_id: changed.requestId })
      const { events } = await api.get<{ events: { result: string }[] }>('GET', `/audit/events?${query}`)
      const result = events.at(-1)?.result
      if ((changed.status === 200) !== (result === 'success')) wrong.push(`${changed.status}, recorded as ${result}`)
    }
    t.same(wrong, [])
  })
}
