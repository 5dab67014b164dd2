/** The commands that list buckets and policies, over several pages. */
import tap, { test } from 'tap'
import type { PolicyRecord } from '../support/management-records.ts'
import { startManaged, SYSTEM_TOKEN } from '../support/management-server.ts'
import { run } from './command-runner.ts'

const server = await startManaged()
tap.teardown(() => server.stop())
const { api, apiEndpoint } = server
const HERE = { OBJECT_STORE_URL: apiEndpoint, OBJECT_STORE_TOKEN: SYSTEM_TOKEN }

/** What a command that must succeed prints. */
async function textOf(command: string, ...words: readonly string[]): Promise<string> {
  const { exitCode, stdout, stderr } = await run([...command.split(' '), ...words], { environment: HERE })
  if (exitCode !== 0) throw new Error(`${command} ${words.join(' ')}: ${exitCode} ${stderr}`)
  return stdout
}

async function jsonOf<T = Record<string, unknown>>(command: string, ...words: readonly string[]): Promise<T> {
  return JSON.parse(await textOf(command, ...words, '--json')) as T
}

test('lists by name have pages, and a name on a later page is found', async (t) => {
  for (const name of ['photos', 'zz-last']) await api.get('POST', '/buckets', { name })
  const { next_after: after } = await jsonOf<{ next_after: string }>('bucket list', '--limit', '1')
  const first = await textOf('bucket list', '--limit', '1')
  t.match(first, new RegExp(`^NAME .+\n.+\n\nthere is more: --after ${after}\n$`))
  t.notMatch(await textOf('bucket list', '--after', after), first.split('\n')[1] ?? '')
  const resources = Array.from({ length: 100 }, (_, index) => `bucket:${'b'.repeat(60)}-${index}/${'k'.repeat(80)}`)
  const names = Array.from({ length: 75 }, (_, index) => `large ${index + 10}`)
  const statements = [{ effect: 'deny', actions: ['s3:GetObject'], resources }]
  const made = names.map((name) => api.get<PolicyRecord>('POST', '/policies', { name, statements }))
  const ids = (await Promise.all(made)).map(({ id }) => id)
  t.type((await api.get<{ next_after: unknown }>('GET', '/policies')).next_after, 'string', 'more than one page')
  t.match(await jsonOf('policy show', 'large 84'), { name: 'large 84' })
  t.equal((await jsonOf<{ policies: unknown[] }>('policy list')).policies.length, 75)
  await Promise.all(ids.map((id) => api.call('DELETE', `/policies/${id}`)))
})
