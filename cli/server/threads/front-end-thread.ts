import { hostname } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import { systemMilliseconds } from '../../../engine/clock.ts'
import { PortEngineClient } from '../../../engine/client/port-client.ts'
import { BodyHashing } from '../../../engine/hashing/body-hashing.ts'
import { PIECE_BYTES } from '../../../engine/payloads/piece-pool.ts'
import { EventStreams } from '../../../planes/exchange/event-streams.ts'
import { ConcurrencyGate } from '../../../planes/http/limits/concurrency-gate.ts'
import { listen } from '../../../planes/http/listen.ts'
import type { HttpListener } from '../../../planes/http/listener.ts'
import { Authenticator } from '../../../planes/s3/identity/authenticate.ts'
import { S3_ACTIONS } from '../../../planes/s3/authorize.ts'
import { BucketPolicies } from '../../../planes/s3/policies/bucket-policies.ts'
import type { Credential } from '../../../planes/s3/signing/identity.ts'
import { CredentialDirectory, rootCredentialOf } from '../../../planes/s3/identity/credential-directory.ts'
import { bigDocuments } from '../../../planes/s3/documents/big-documents.ts'
import { malformedRequestResponse } from '../../../planes/s3/documents/error-response.ts'
import { HostNames } from '../../../planes/s3/request/host-names.ts'
import { createS3Handler } from '../../../planes/s3/s3-plane.ts'
import type { S3Services } from '../../../planes/s3/handling/services.ts'
import { CommitCounts } from '../../../projections/catalog/commit-counts.ts'
import { createLogger } from '../log/logger.ts'
import { StoreSession } from '../store/store-session.ts'
import { refusedCounter } from '../refused-connections.ts'
import { publishGate, publishMissed } from '../metrics/published-metrics.ts'
import { FrontEndTelemetry } from '../metrics/front-end-telemetry.ts'
import { SharingCounters } from '../../links/telemetry.ts'
import { withEmbeds } from '../../links/plane.ts'
import { giveBackMemorySoon } from '../../../engine/give-back-memory.ts'
import type { FromFrontEnd, FrontEndThreadData, ToFrontEnd } from './thread-messages.ts'

/**
 * A front end of the S3 plane: parses, authenticates, reads, has uploads hashed; every change is sent to the engine
 * thread.
 */

// Pieces of a few KiB come from one in 64 KiB: an allocation for each costs more than its use.
Buffer.poolSize = 64 * 1024

const main = parentPort
if (main === null) throw new Error('a front end must be started by the server')
const data = workerData as FrontEndThreadData
const send = (message: FromFrontEnd) => main.postMessage(message)
const log = createLogger({
  level: data.logLevel,
  format: data.logFormat,
  bindings: { thread: `front-end-${data.thread}` },
})
let listener: HttpListener | undefined
/** Pending while the listener is being opened. */
let listening: Promise<HttpListener> | undefined
let stopping: Promise<void> | undefined

/** The root credential if it may be used on this plane, or if it may not; otherwise undefined. */
function rootCredential(enabled: boolean): Credential | undefined {
  return data.rootEnabled === enabled ? rootCredentialOf(data.rootAccessKey, data.rootSecretKey) : undefined
}

function services(
  { engine, catalog, payloads, uploads, space, versionIds, uploadIds, events }: StoreSession,
  credentials: CredentialDirectory,
  bucketPolicies: BucketPolicies,
): S3Services {
  return {
    engine,
    catalog,
    payloads,
    uploads,
    space,
    versionIds,
    uploadIds,
    extensions: data.extensions,
    encrypts: data.encryptionEnabled,
    unsignedChunksOverHttp: data.unsignedChunksOverHttp,
    inlineBytesMaximum: data.inlineBytesMaximum,
    tokenKey: Buffer.from(data.keys.continuationTokens),
    credentials,
    bucketPolicies,
    notifications: { events, streams },
    owner: { id: data.deploymentId, displayName: 'root' },
    clock: systemMilliseconds,
  }
}

const engine = new PortEngineClient(data.port, data.auditBytesMaximum)

function stop(graceMilliseconds: number): Promise<void> {
  stopping ??= close(graceMilliseconds)
  return stopping
}

/**
 * Closes the listener first: a thread that ends with an open one silently ends the process (see uws-server.ts). A
 * listener that is still opening is waited for, since it would keep the thread alive and never be closed.
 */
async function close(graceMilliseconds: number): Promise<void> {
  streams.end()
  const opened = await listening?.catch(() => undefined)
  await opened?.close(graceMilliseconds)
  bigDocuments.end()
  await log.flush()
  engine.flush()
  send({ kind: 'stopped' })
  data.port.close()
  main?.close()
}

function reload(): void {
  try {
    const changed = listener?.reloadTls() ?? false
    hostNames.useCertificate(listener?.certificate)
    send({ kind: 'reloaded', changed })
  } catch (error) {
    send({ kind: 'reloaded', changed: false, problem: (error as Error).message })
  }
}

/**
 * The problem that keeps this thread from serving, if any: a request reads the catalog, and its record goes to the
 * engine.
 */
function serving(): { readonly problem?: string } {
  try {
    session.catalog.snapshot().totals()
    return {}
  } catch (error) {
    log.log.error({ err: error }, 'the catalog cannot be read')
    return { problem: 'the front end cannot read the catalog' }
  }
}

process.on('uncaughtException', (error) => {
  log.log.fatal({ err: error }, 'a front end failed')
  send({ kind: 'failed', message: error.message })
  void stop(0)
})

const counts = new CommitCounts(data.commitCounts)
const hashing = new BodyHashing(data.hashing, PIECE_BYTES, () => send({ kind: 'hash' }))
const session = new StoreSession(data, data.thread, engine, hashing, counts)
const streams = new EventStreams(session.events)
const gate = new ConcurrencyGate(data.limits, data.gate, data.thread)
publishGate(gate, data.metrics, data.thread)
publishMissed(engine, data.metrics, data.thread)
const hostNames = new HostNames(data.hostnames, hostname())
const logs = { faults: log.log, requests: log.requests }
const sharingTelemetry = new SharingCounters(data.metrics, data.thread, logs, data.logRequests)
const telemetry = new FrontEndTelemetry(data.metrics, data.thread, log, data.logRequests, data.extensions)
main.on('message', (message: ToFrontEnd) => {
  switch (message.kind) {
    case 'ask':
      send({ kind: 'answered', ...serving() })
      return
    case 'stop':
      void stop(message.graceMilliseconds)
      return
    case 'reload':
      reload()
  }
})
try {
  const changes = () => counts.settings
  const { access, secrets } = session
  const directory = new CredentialDirectory(
    access,
    secrets,
    rootCredential(true),
    session.expiryClock,
    changes,
    rootCredential(false),
  )
  const bucketPolicies = new BucketPolicies({
    reader: access,
    actions: S3_ACTIONS,
    changes,
    isOn: data.extensions.has('bucket-policy'),
    publicPrefixes: data.publicReadPrefixes,
  })
  const authenticator = new Authenticator({
    readsVersionTwo: data.extensions.has('presign-v2'),
    lookup: (accessKey) => directory.lookup(accessKey),
    describe: (accessKey) => directory.describe(accessKey),
    clock: systemMilliseconds,
  })
  listening = listen({
    driver: data.driver,
    exclusive: data.isAlone,
    host: data.host,
    port: data.listenPort,
    tls: data.tls,
    handler: withEmbeds(
      { store: session, isEnabled: data.sharingEnabled, gate, telemetry: sharingTelemetry },
      createS3Handler({
        services: services(session, directory, bucketPolicies),
        authenticator,
        gate,
        hostNames,
        telemetry,
      }),
    ),
    connectionsMaximum: data.connectionsMaximum,
    onConnectionRefused: refusedCounter(data.metrics, data.thread, 's3'),
    stallTimeoutMilliseconds: data.stallTimeoutMilliseconds,
    minimumBytes: data.minimumBytes,
    trustedProxies: data.trustedProxies,
    isCrowded: () => gate.isCrowded,
    onHandlerError: (error) => log.log.error({ err: error }, 'a response failed'),
    refusal: malformedRequestResponse,
  })
  listener = await listening
  hostNames.useCertificate(listener.certificate)
  if (stopping === undefined) {
    giveBackMemorySoon()
    send({ kind: 'ready', port: listener.port })
  }
} catch (error) {
  send({ kind: 'failed', message: error instanceof Error ? error.message : String(error) })
  await stop(0)
}
