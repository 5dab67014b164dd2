/** TLS files on disk, and clients that tell which certificate they were shown. */
import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { connect } from 'node:tls'
import type { TlsFiles } from '../../planes/http/tls-files.ts'
import { RawClient } from '../support/raw/raw-client.ts'
import type { CertificateAndKey } from '../support/self-signed-certificate.ts'

/** Writes a pair where a listener looks for it. */
export function install({ certificateFile, keyFile }: TlsFiles, { certificate, key }: CertificateAndKey): void {
  writeFileSync(certificateFile, certificate)
  writeFileSync(keyFile, key)
}

/** A pair of files in a directory. */
export function filesIn(directory: string, pair: CertificateAndKey): TlsFiles {
  const files = { certificateFile: `${directory}/certificate.pem`, keyFile: `${directory}/key.pem` }
  install(files, pair)
  return files
}

export interface TlsClient {
  readonly client: RawClient
  /** Name of the subject of the certificate that the server showed. */
  readonly shown: string
}

/** Connects; rejects when the connection or the handshake fails. Any certificate is believed. */
export async function openTls(port: number): Promise<TlsClient> {
  const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false })
  await once(socket, 'secureConnect')
  const { subject } = new X509Certificate(socket.getPeerCertificate().raw)
  return { client: new RawClient(socket), shown: subject.replace('CN=', '') }
}

/** The certificate shown to a connection that is opened for the question. */
export async function shownBy(port: number): Promise<string> {
  const { client, shown } = await openTls(port)
  client.socket.destroy()
  return shown
}
