/** The management listener. */
import type { ConfigRow } from '../config-row.ts'

export const apiSettings = [
  {
    name: 'api.bind',
    kind: 'address',
    default: '127.0.0.1:7601',
    flag: '--api-bind',
    sentence: 'Address the management listener (health, readiness, metrics) listens on.',
  },
  {
    name: 'api.tls_certificate_file',
    kind: 'path',
    sentence: 'PEM file with the certificate of the management listener, followed by its chain. SIGHUP reloads it.',
  },
  {
    name: 'api.tls_key_file',
    kind: 'path',
    sentence: 'PEM file with the private key of that certificate, without a passphrase.',
  },
] as const satisfies readonly ConfigRow[]
