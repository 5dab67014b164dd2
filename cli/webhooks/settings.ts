/** Deliveries of storage events. */
import type { ConfigRow } from '../config/config-row.ts'

export const webhooksSettings = [
  {
    name: 'webhooks.allow_http',
    kind: 'boolean',
    default: false,
    sentence: 'Whether webhooks may be sent without TLS.',
  },
  {
    name: 'webhooks.allow_private_networks',
    kind: 'boolean',
    default: false,
    sentence:
      'Whether webhooks may be sent to private networks and to this machine. Sending to this server itself is always refused.',
  },
  {
    name: 'webhooks.request_timeout_seconds',
    kind: 'integer',
    unit: 'seconds',
    bounds: { minimum: 1, maximum: 120 },
    default: 10,
    sentence: 'How long one delivery may take, from resolving the name to the end of the response.',
  },
  {
    name: 'webhooks.maximum_attempts',
    kind: 'integer',
    unit: 'attempts',
    bounds: { minimum: 1, maximum: 20 },
    default: 6,
    sentence: 'How often a delivery is tried before it counts as failed.',
  },
  {
    name: 'webhooks.poll_interval_seconds',
    kind: 'integer',
    unit: 'seconds',
    bounds: { minimum: 1, maximum: 60 },
    default: 2,
    sentence: 'How often the server looks for new storage events to deliver.',
  },
  {
    name: 'webhooks.ca_file',
    kind: 'path',
    sentence: 'PEM file with certificate authorities to trust for webhook targets, in addition to those of Node.js.',
  },
] as const satisfies readonly ConfigRow[]
