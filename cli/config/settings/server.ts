/** The process and its connections. */
import type { ConfigRow } from '../config-row.ts'

export const serverSettings = [
  {
    name: 'server.http_driver',
    kind: 'choice',
    choices: ['auto', 'uws', 'node'],
    default: 'auto',
    sentence:
      'HTTP implementation: uWebSockets.js (uws) or that of Node (node); auto uses uWebSockets.js if its binary can be loaded.',
  },
  {
    name: 'server.shutdown_grace_period_seconds',
    kind: 'integer',
    unit: 'seconds',
    bounds: { minimum: 1, maximum: 300 },
    default: 30,
    sentence: 'How long requests in progress may take to finish once the server was asked to stop.',
  },
  {
    name: 'server.stall_timeout_seconds',
    kind: 'integer',
    unit: 'seconds',
    bounds: { minimum: 5, maximum: 3600 },
    default: 60,
    sentence: 'How long a transfer may make no progress before its connection is closed.',
  },
  {
    name: 'server.minimum_bytes_per_second',
    kind: 'integer',
    unit: 'bytes/s',
    bounds: { minimum: 0, maximum: 1_048_576 },
    default: 1024,
    sentence:
      'Minimum rate of a transfer, averaged over the stall timeout, for it to keep its connection while operations or connections run short; otherwise any progress is enough.',
  },
  {
    name: 'server.trusted_proxies',
    kind: 'networks',
    bounds: { minimum: 0, maximum: 256 },
    default: [],
    sentence:
      'Addresses and networks of the proxies in front, such as 10.0.0.0/8, on all listeners: where a request comes from is then what they append to Forwarded or X-Forwarded-For. Nobody else is believed.',
  },
] as const satisfies readonly ConfigRow[]
