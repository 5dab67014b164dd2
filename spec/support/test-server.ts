/**
 * Real servers for specs, over real sockets. In the thread of the spec: the front end of the S3 plane over an engine in
 * the same thread. As a process: the program as a user starts it.
 */
// Must come first: it sets what the HTTP library reads while it is loaded.
import { systemMilliseconds } from '../../engine/clock.ts'
import { microsecondsOf, type Milliseconds, millisecondsOf } from '../../engine/brands.ts'
import '../../cli/environment.ts'
import { rmSync } from 'node:fs'
import { hostname } from 'node:os'
import { keysOf } from '../../cli/access/access-keys.ts'
import { storeKeys, type StoreKeys } from '../../engine/keys/store-keys.ts'
import { openStore } from '../../cli/server/store/open-store.ts'
import type { OpenStore } from '../../cli/server/store/opened-store.ts'
import { CommitCounts } from '../../projections/catalog/commit-counts.ts'
import { StoreSession } from '../../cli/server/store/store-session.ts'
import { StorePaths } from '../../engine/disk/store-paths.ts'
import { EventStreams } from '../../planes/exchange/event-streams.ts'
import { ConcurrencyGate, type ConcurrencyLimits } from '../../planes/http/limits/concurrency-gate.ts'
import type { HttpListener } from '../../planes/http/listener.ts'
import { Authenticator } from '../../planes/s3/identity/authenticate.ts'
import type { Credential } from '../../planes/s3/signing/identity.ts'
import { CredentialDirectory, rootCredentialOf } from '../../planes/s3/identity/credential-directory.ts'
import { malformedRequestResponse } from '../../planes/s3/documents/error-response.ts'
import { HostNames } from '../../planes/s3/request/host-names.ts'
import type { Extension, UnsignedChunks } from '../../planes/objects/s3-extensions.ts'
import { createS3Handler } from '../../planes/s3/s3-plane.ts'
import type { FinishedRequest } from '../../planes/s3/telemetry.ts'
import type { Owner } from '../../planes/s3/documents/listing-elements.ts'
import { S3_ACTIONS } from '../../planes/s3/authorize.ts'
import { BucketPolicies } from '../../planes/s3/policies/bucket-policies.ts'
import type { S3Services } from '../../planes/s3/handling/services.ts'
import { journalEntries, journalText } from './journal-entries.ts'
import { ACCESS_KEY, MASTER_KEY, SECRET_KEY, temporaryDirectory, type TestServer } from './test-clients.ts'

export { type ProcessServer, startProcess } from './server-process.ts'
export { temporaryDirectory, type TestServer } from './test-clients.ts'
import { realGround, type ServerGround } from './server-ground.ts'

const MEBIBYTE = 1024 ** 2
/** How far the clock of a server in this thread may be behind its journal. */
export const CLOCK_TOLERANCE_SECONDS = 60

/** Settings of a server in the thread of a spec; sizes in bytes. */
export interface InThreadOptions {
  /** Time as the store sees it, in milliseconds since 1970; signatures are still judged by the host's clock. */
  readonly clock?: () => number
  /** Who may sign beside the root credential, with what is allowed to each. */
  readonly credentials?: readonly Credential[]
  /** Given: it is used as it is and stays. */
  readonly dataDirectory?: string
  /** Whether new payloads are encrypted. */
  readonly encryptionEnabled?: boolean
  /** The setting `s3.extensions`; none by default. */
  readonly extensions?: readonly Extension[]
  /** Of the journal, for requests without valid credentials; as many as they want by default. */
  readonly strangerBytesPerSecond?: number
  /** The setting `s3.public_read_prefixes`; none by default. */
  readonly publicReadPrefixes?: readonly string[]
  /** Without it the real host. */
  readonly ground?: ServerGround
  /** The setting `s3.unsigned_chunks_over_http`; `false` by default. */
  readonly unsignedChunksOverHttp?: UnsignedChunks
  /** The setting `s3.hostnames`. */
  readonly hostnames?: readonly string[]
  readonly inlineBytesMaximum?: number
  readonly limits?: Partial<ConcurrencyLimits>
  readonly masterKey?: Buffer
  /** The setting `previous_credential_master_key`. */
  readonly previousMasterKey?: Buffer | undefined
  /** Ids come from the last master key alone, and not from all that the store has had: so the answers of the golden store were recorded. */
  readonly lastMasterKeyAlone?: boolean
  /** Free space that uploads may not use; more than there is makes a full disk. */
  readonly reservedBytes?: number
  readonly segmentBytes?: number
  readonly volumeBytes?: number
}

function clockOf({ clock = Date.now }: InThreadOptions): () => Milliseconds {
  return () => millisecondsOf(clock())
}

export interface InThreadServer extends TestServer {
  readonly store: OpenStore
  readonly paths: StorePaths
  readonly ground: ServerGround
  readonly gate: ConcurrencyGate
  readonly listener: HttpListener
  /** What the plane reported as its own faults. */
  readonly failures: unknown[]
  readonly finished: FinishedRequest[]
  readonly services: S3Services
  /** The store as another thread has it. Accounts and credentials in it may sign at this server. */
  readonly session: StoreSession
  readonly keys: StoreKeys
  /** Stops as a process that is killed does, as far as the files show it. Nothing may be on its way. */
  abandon(): Promise<void>
}

export async function startInThread(options: InThreadOptions = {}): Promise<InThreadServer> {
  const dataDirectory = options.dataDirectory ?? temporaryDirectory()
  const paths = new StorePaths(dataDirectory)
  const masterKey = options.masterKey ?? MASTER_KEY
  const counts = new CommitCounts()
  const ground = options.ground ?? realGround()
  const store = await openInThread(paths, masterKey, options, counts, ground)
  const limits = { operationsMaximum: 256, queueMaximum: 1024, waitMillisecondsMaximum: 10_000, ...options.limits }
  const gate = new ConcurrencyGate(limits)
  const failures: unknown[] = []
  const finished: FinishedRequest[] = []
  const keys = options.lastMasterKeyAlone
    ? storeKeys(masterKey, Buffer.from(store.deploymentId, 'hex'))
    : keysOf(ground.disk, paths, masterKey)
  const { deploymentId, start } = store
  const { encryptionEnabled = false, reservedBytes = MEBIBYTE } = options
  const session = new StoreSession(
    { dataDirectory, deploymentId, start, keys, encryptionEnabled, reservedBytes },
    0,
    store.client,
    ground.hashing(),
    counts,
    clockOf(options),
    ground.disk,
  )
  const owner = { id: deploymentId, displayName: 'root' }
  const directory = new CredentialDirectory(session.access, session.secrets, ROOT, session.expiryClock)
  const lookup = (accessKey: string) =>
    options.credentials?.find((credential) => credential.accessKey === accessKey) ?? directory.lookup(accessKey)
  const extensions = new Set(options.extensions)
  const bucketPolicies = new BucketPolicies({
    reader: session.access,
    actions: S3_ACTIONS,
    changes: () => counts.settings,
    isOn: extensions.has('bucket-policy'),
    publicPrefixes: options.publicReadPrefixes ?? [],
  })
  const services = servicesOf(
    session,
    { credentials: { lookup }, bucketPolicies },
    owner,
    Buffer.from(keys.continuationTokens),
    options,
  )
  const handler = createS3Handler({
    services,
    authenticator: new Authenticator({
      lookup,
      describe: (accessKey) => directory.describe(accessKey),
      clock: systemMilliseconds,
      readsVersionTwo: services.extensions.has('presign-v2'),
    }),
    gate,
    hostNames: new HostNames(options.hostnames, hostname()),
    telemetry: {
      finished: (request) => void finished.push(request),
      failed: (error) => void failures.push(error),
      erred: () => undefined,
    },
  })
  const refusal = malformedRequestResponse
  const onHandlerError = (error: unknown) => void failures.push(error)
  const listener = await ground.listen({ host: '127.0.0.1', port: 0, handler, refusal, onHandlerError })
  const drained = async () => {
    await store.loop.drained()
    return dataDirectory
  }
  const clients = ground.clients(listener)
  const close = async (healthy: boolean) => {
    ground.closeClients(clients)
    services.notifications.streams.end()
    await listener.close(2000)
    await session.close()
    await store.close(healthy)
  }
  return {
    ...clients,
    dataDirectory,
    paths,
    ground,
    store,
    gate,
    listener,
    failures,
    finished,
    services,
    session,
    keys,
    journal: async () => journalEntries(await drained()),
    journalText: async () => journalText(await drained()),
    abandon: () => close(false),
    stop: async () => {
      await close(true)
      if (options.dataDirectory === undefined) rmSync(dataDirectory, { recursive: true })
    },
  }
}

function openInThread(
  paths: StorePaths,
  masterKey: Buffer,
  options: InThreadOptions,
  counts: CommitCounts,
  ground: ServerGround,
): Promise<OpenStore> {
  const { reservedBytes = MEBIBYTE, segmentBytes = 8 * MEBIBYTE, volumeBytes = 8 * MEBIBYTE } = options
  const sizes = {
    segmentBytes,
    volumeBytes,
    reservedBytes,
    strangerBytesPerSecond: options.strangerBytesPerSecond ?? 2 ** 30,
  }
  const judging = {
    clockToleranceSeconds: CLOCK_TOLERANCE_SECONDS,
    clockIntervalSeconds: 3600,
    referenceRatioMaximum: 1000,
  }
  const clock = clockOf(options)
  const { previousMasterKey } = options
  const settings = { masterKey, previousMasterKey, ...sizes, ...judging, version: '0.0.0-spec', bootId: ground.bootId }
  return openStore(ground.disk, paths, settings, {
    clock: () => microsecondsOf(clock() * 1000),
    onFailure: (error) => ground.failed(error),
    onBatchDone: (time) => counts.countCommit(time),
    onSettingsChanged: (time) => counts.countSettings(time),
  })
}

const ROOT: Credential = rootCredentialOf(ACCESS_KEY, SECRET_KEY)

function servicesOf(
  { engine, catalog, payloads, uploads, space, versionIds, uploadIds, events }: StoreSession,
  access: Pick<S3Services, 'credentials' | 'bucketPolicies'>,
  owner: Owner,
  tokenKey: Buffer,
  options: InThreadOptions,
): S3Services {
  return {
    engine,
    catalog,
    payloads,
    uploads,
    space,
    extensions: new Set(options.extensions),
    encrypts: options.encryptionEnabled ?? false,
    unsignedChunksOverHttp: options.unsignedChunksOverHttp ?? 'false',
    inlineBytesMaximum: options.inlineBytesMaximum ?? 65_536,
    tokenKey,
    versionIds,
    uploadIds,
    ...access,
    notifications: { events, streams: new EventStreams(events) },
    owner,
    clock: clockOf(options),
  }
}
