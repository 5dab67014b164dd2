/** A server in the thread of a spec whose links are followed: shares on one listener, embeds in front of the S3 plane. */
// Must come first: it sets what the HTTP library reads while it is loaded.
import '../../cli/environment.ts'
import { randomUUID } from 'node:crypto'
import type { CommandOf } from '../../engine/commands/commands.ts'
import { mounted } from '../../planes/http/mounted-handler.ts'
import type { HttpListener } from '../../planes/http/listener.ts'
import { listenBySpec as listen } from './http-driver.ts'
import { PasswordHashing } from '../../planes/exchange/password-hashing.ts'
import { AttemptLimits } from '../../planes/links/attempt-limits.ts'
import type { ShareServices } from '../../planes/links/services.ts'
import { ShareTickets } from '../../planes/links/share-tickets.ts'
import {
  createEmbedHandler,
  createShareHandler,
  type FinishedAccess,
  type SharingTelemetry,
} from '../../planes/links/sharing-plane.ts'
import { auditOf, createBucket } from './commands.ts'
import { type InThreadOptions, type InThreadServer, startInThread } from './test-server.ts'
import { type WireAnswer, WireClient } from './wire-client.ts'

export const SHARED_BUCKET = 'photos'
const AUDIT = auditOf('share.created', `bucket:${SHARED_BUCKET}`)

export interface SharingOptions extends InThreadOptions {
  readonly isEnabled?: boolean
  /** Milliseconds of the clock of attempts. */
  readonly now?: () => number
}

type Asking = (
  method: string,
  target: string,
  headers?: Readonly<Record<string, string>>,
  body?: string,
) => Promise<WireAnswer>

export interface SharingServer extends InThreadServer {
  readonly shareEndpoint: string
  readonly embedEndpoint: string
  /** Without credentials, at the listener of shares. */
  readonly ask: Asking
  /** Without credentials, at that of embeds. */
  readonly askEmbed: Asking
  /** Every answer so far, as log and metrics have it. */
  readonly accesses: FinishedAccess[]
  readonly hashing: PasswordHashing
  put(key: string, body: Buffer | string, headers?: readonly (readonly [string, string])[]): Promise<void>
  /** Gives the token and the id. */
  share(key: string, more?: ShareWish): Promise<Link>
  embed(key: string, more?: Partial<CommandOf<'create-embed'>>): Promise<Link>
}

export interface Link {
  readonly id: string
  readonly token: string
}

interface ShareWish extends Partial<Omit<CommandOf<'create-share'>, 'password'>> {
  readonly password?: string
}

function nothing() {
  return { status: 404, headers: [], body: '' }
}

function askingOf(client: WireClient): Asking {
  return (method, target, headers = {}, body = '') =>
    client.send(method, target, { headers: Object.entries(headers), body, sign: false })
}

/** Starts one with the bucket `photos`. */
export async function startSharing(options: SharingOptions = {}): Promise<SharingServer> {
  const server = await startInThread(options)
  await server.store.client.execute(createBucket(SHARED_BUCKET))
  const accesses: FinishedAccess[] = []
  const telemetry: SharingTelemetry = {
    finished: (access) => void accesses.push(access),
    failed: (error) => void server.failures.push(error),
    erred: () => undefined,
  }
  const hashing = new PasswordHashing(Buffer.alloc(32, 0x70))
  const services = servicesOf(server, options, hashing)
  const { gate } = server
  const shares = await listenTo(server, mounted(/^\/s\//, createShareHandler({ services, gate, telemetry }), nothing))
  const embeds = await listenTo(server, mounted(/^\/e\//, createEmbedHandler({ services, gate, telemetry }), nothing))
  const clients = [shares, embeds].map(
    ({ port }) => new WireClient({ endpoint: `http://127.0.0.1:${port}`, accessKey: '', secretKey: '' }),
  )
  return {
    ...server,
    shareEndpoint: `http://127.0.0.1:${shares.port}`,
    embedEndpoint: `http://127.0.0.1:${embeds.port}`,
    ask: askingOf(clients[0] as WireClient),
    askEmbed: askingOf(clients[1] as WireClient),
    accesses,
    hashing,
    put: (key, body, headers = []) => put(server, key, body, headers),
    share: (key, wish = {}) => createShare(server, hashing, key, wish),
    embed: (key, wish = {}) => createEmbed(server, key, wish),
    stop: async () => {
      for (const client of clients) client.close()
      await Promise.all([shares.close(2000), embeds.close(2000)])
      await server.stop()
    },
  }
}

function listenTo(server: InThreadServer, handler: Parameters<typeof listen>[0]['handler']): Promise<HttpListener> {
  return listen({
    host: '127.0.0.1',
    port: 0,
    handler,
    onHandlerError: (error) => void server.failures.push(error),
  })
}

function servicesOf(server: InThreadServer, options: SharingOptions, hashing: PasswordHashing): ShareServices {
  const { session, store } = server
  return {
    engine: store.client,
    catalog: session.catalog,
    payloads: session.payloads,
    tokens: session.capabilityTokens,
    tickets: new ShareTickets(session.ticketKey),
    limits: new AttemptLimits(options.now),
    hashing,
    isEnabled: options.isEnabled ?? true,
    expiryClock: session.expiryClock,
  }
}

async function put(
  server: InThreadServer,
  key: string,
  body: Buffer | string,
  headers: readonly (readonly [string, string])[],
) {
  const path = key.split('/').map(encodeURIComponent).join('/')
  const { status, text } = await server.raw('PUT', `/${SHARED_BUCKET}/${path}`, { body, headers })
  if (status !== 200) throw new Error(`PUT ${key}: ${status} ${text}`)
}

async function createShare(
  { session, store }: InThreadServer,
  hashing: PasswordHashing,
  key: string,
  { password, ...more }: ShareWish,
): Promise<Link> {
  const id = randomUUID()
  const { token, digest, sealedToken } = session.capabilityTokens.create('share', id)
  await store.client.execute({
    kind: 'create-share',
    audit: AUDIT,
    share: id,
    bucket: SHARED_BUCKET,
    key,
    version: undefined,
    digest,
    sealedToken,
    fileName: undefined,
    expiresMicroseconds: undefined,
    maximumDownloads: undefined,
    ...more,
    password: password === undefined ? undefined : await hashing.hash(password, 'maker'),
  })
  return { id, token }
}

async function createEmbed(
  { session, store }: InThreadServer,
  key: string,
  more: Partial<CommandOf<'create-embed'>>,
): Promise<Link> {
  const id = randomUUID()
  const { token, digest, sealedToken } = session.capabilityTokens.create('embed', id)
  await store.client.execute({
    kind: 'create-embed',
    audit: AUDIT,
    embed: id,
    bucket: SHARED_BUCKET,
    key,
    version: undefined,
    digest,
    sealedToken,
    allowedOrigins: ['*'],
    expiresMicroseconds: undefined,
    cacheSeconds: 60,
    ...more,
  })
  return { id, token }
}
