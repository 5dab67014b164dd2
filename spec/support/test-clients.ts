/** What a spec needs to talk to a server, however that server was started. */
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { S3Client } from '@aws-sdk/client-s3'
import type { JournalEntry } from './journal-entries.ts'
import { WireClient } from './wire-client.ts'

export const MASTER_KEY = Buffer.alloc(32, 7)
export const ACCESS_KEY = 'ROOTACCESSKEY'
export const SECRET_KEY = 'the+secret/key-of-the-specs'

/** What both kinds of server give a spec. */
export interface TestServer {
  readonly dataDirectory: string
  /** `http://127.0.0.1:port` of the S3 plane. */
  readonly endpoint: string
  readonly port: number
  readonly accessKey: string
  readonly secretKey: string
  /** The SDK with its default checksum settings; it does not try again. */
  readonly s3: S3Client
  readonly wire: WireClient
  readonly raw: WireClient['send']
  /** Every entry of the journal, those of the requests answered so far included. */
  journal(): Promise<JournalEntry[]>
  /** Every byte of the journal, to search in. */
  journalText(): Promise<string>
  /** Stops in good order. A data directory that was not given is removed. */
  stop(): Promise<void>
}

export function temporaryDirectory(): string {
  return mkdtempSync(join(tmpdir(), 'object-store-spec-'))
}

export type Clients = Pick<TestServer, 'endpoint' | 'port' | 'accessKey' | 'secretKey' | 's3' | 'wire' | 'raw'>

/** @param explain says more of a connection that failed */
export function clientsOf(port: number, explain?: (error: Error) => Promise<Error>): Clients {
  const endpoint = `http://127.0.0.1:${port}`
  const wire = new WireClient({ endpoint, accessKey: ACCESS_KEY, secretKey: SECRET_KEY, explain })
  const s3 = new S3Client({
    endpoint,
    forcePathStyle: true,
    region: 'us-east-1',
    maxAttempts: 1,
    credentials: { accessKeyId: ACCESS_KEY, secretAccessKey: SECRET_KEY },
  })
  const raw = wire.send.bind(wire)
  return { endpoint, port, accessKey: ACCESS_KEY, secretKey: SECRET_KEY, s3, wire, raw }
}

export function closeClients(clients: Clients): void {
  clients.s3.destroy()
  clients.wire.close()
}
