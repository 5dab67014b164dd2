/** The listener of the web console. */
import type { ConfigRow } from '../config-row.ts'

export const consoleSettings = [
  {
    name: 'console.enabled',
    kind: 'boolean',
    default: true,
    sentence: 'Whether the web console is served.',
  },
  {
    name: 'console.bind',
    kind: 'address',
    default: '127.0.0.1:7602',
    flag: '--console-bind',
    sentence: 'Address the web console listens on; it also serves the management interface, below /api/v1.',
  },
  {
    name: 'console.tls_certificate_file',
    kind: 'path',
    sentence: 'PEM file with the certificate of the web console, followed by its chain. SIGHUP reloads it.',
  },
  {
    name: 'console.tls_key_file',
    kind: 'path',
    sentence: 'PEM file with the private key of that certificate, without a passphrase.',
  },
] as const satisfies readonly ConfigRow[]
