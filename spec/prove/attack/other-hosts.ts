/**
 * Host names times bucket names: a bucket in front of a host is never taken for none, a host that the store does not know
 * is refused whatever is asked of it, and who may not ask cannot tell one from the other.
 */
import { hash } from 'node:crypto'
import { hostname } from 'node:os'
import { requestTarget, signHeaders } from '../../support/signing.ts'
import type { QueryParameter } from '../../../planes/s3/request/query-parameters.ts'
import { type Arena, BUCKET, OTHER_BUCKET, type Signer } from './arena.ts'
import type { Assault } from './assault.ts'
import { requestBytes } from '../../support/raw/request-text.ts'

/** The first of them are buckets, the others are not. */
const BUCKETS = [BUCKET, OTHER_BUCKET, 'attack-absent', 'marker.txt', 'key']
/** What virtual-hosted addressing puts behind a bucket. */
const ENDPOINTS = [
  'store.example',
  'localhost',
  'localhost:7600',
  '127.0.0.1',
  's3.us-east-1.amazonaws.com',
  hostname(),
]
const OWN = ['localhost', 'LOCALHOST:1', 'localhost.', '127.0.0.1', '[::1]:7600', '192.0.2.1:80', hostname()]

interface Asked {
  readonly method: string
  readonly path: string
  readonly query: readonly QueryParameter[]
}

function ask(method: string, path: string, query: readonly QueryParameter[] = []): Asked {
  return { method, path, query }
}

/** What a client means by a key or by the root of its bucket, and what it would do here to a bucket. */
const ASKED: readonly Asked[] = [
  ask('GET', '/'),
  ask('GET', '/', [['list-type', '2']]),
  ask('PUT', '/marker.txt'),
  ask('DELETE', '/marker.txt'),
  ask('HEAD', `/${BUCKET}`),
  ask('GET', `/${BUCKET}/key`),
  ask('PUT', `/${BUCKET}/from-another-host`),
  ask('GET', '/attack-absent/key'),
]

/** Who asks; without a signer nobody. */
const SENDERS: readonly (readonly [name: string, (arena: Arena) => Signer | undefined])[] = [
  ['root', ({ signers }) => signers.root],
  ['everything', ({ signers }) => signers.everything],
  ['nothing', ({ signers }) => signers.nothing],
  ['nobody', () => undefined],
]

function bytesOf({ method, path, query }: Asked, host: string, signer: Signer | undefined): string {
  const target = requestTarget(path, query)
  if (signer === undefined) return requestBytes(method, target, [['host', host]], '')
  const payloadHash = hash('sha256', '', 'hex')
  const signing = { method, path, query, headers: [], region: 'us-east-1', now: Date.now(), ...signer }
  return requestBytes(method, target, signHeaders({ ...signing, host, payloadHash }), '')
}

export async function attackHosts(assault: Assault): Promise<void> {
  const foreign = BUCKETS.flatMap((bucket) => [bucket, ...ENDPOINTS.map((endpoint) => `${bucket}.${endpoint}`)])
  const all = [...foreign, 'store.example'].flatMap((host) =>
    ASKED.flatMap((asked) => SENDERS.map(([sender, signer]) => ({ host, asked, sender, signer }))),
  )
  const cases = assault.some(all, ({ host, asked, sender }) => [host, sender, JSON.stringify(asked)])
  const { arena, ledger } = assault
  await assault.onS3('hosts that are not the store', cases, async (lane, { host, asked, sender, signer }) => {
    const { method, path, query } = asked
    const name = `${method} ${path}?${query.join('')} at ${host} by ${sender}`
    const bytes = bytesOf(asked, host, signer(arena))
    const answer = await assault.ask(lane, { name, method, bytes, mayChange: false })
    const wanted = sender === 'nobody' ? 403 : 501
    if (answer === undefined || answer.status === wanted) return
    ledger.fault(answer.status < 300 ? 'let in' : 'wrong', name, `${answer.status} instead of ${wanted}`, bytes)
  })
  const own = OWN.map((host) => ({ host }))
  await assault.onS3('names of the store', own, async (lane, { host }) => {
    const bytes = bytesOf(ask('GET', `/${BUCKET}/key`), host, arena.signers.everything)
    await assault.expect(lane, { name: `GET at ${host}`, method: 'GET', bytes, mayChange: false }, [200])
  })
}
