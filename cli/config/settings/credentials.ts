/** Everything that must be kept secret, and what belongs to the root credential. */
import type { ConfigRow } from '../config-row.ts'

export const credentialsSettings = [
  {
    name: 'root.access_key',
    kind: 'text',
    bounds: { minimum: 3, maximum: 128 },
    form: 'access-key',
    sentence: 'Access key of the root credential; the server does not start without it.',
  },
  {
    name: 'root.secret_key',
    kind: 'secret',
    bounds: { minimum: 16, maximum: 256 },
    sentence: 'Secret key of the root credential; the server does not start without it.',
  },
  {
    name: 'root.s3_enabled',
    kind: 'boolean',
    default: true,
    sentence: 'Whether the root credential may be used on the S3 data plane.',
  },
  {
    name: 'credential_master_key',
    kind: 'secret',
    form: 'master-key',
    sentence:
      'Master key from which every sealing and signing key is derived: 64 hexadecimal digits or the base64 of 32 bytes.',
  },
  {
    name: 'previous_credential_master_key',
    kind: 'secret',
    form: 'master-key',
    sentence:
      'The old master key, while it is being changed: a store that still uses it is switched to credential_master_key.',
  },
  {
    name: 'management.system_token',
    kind: 'secret',
    bounds: { minimum: 32, maximum: 1024 },
    sentence: 'Bearer token of the system administrator on the management listener.',
  },
  {
    name: 'metrics.scrape_token',
    kind: 'secret',
    bounds: { minimum: 16, maximum: 1024 },
    sentence: 'Bearer token for /metrics; without one, /metrics is closed.',
  },
] as const satisfies readonly ConfigRow[]
