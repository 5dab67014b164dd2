import { parentPort, workerData } from 'node:worker_threads'
import { nodeDisk } from '../../engine/disk/node-disk.ts'
import { StorePaths } from '../../engine/disk/store-paths.ts'
import { OpaqueIds } from '../../engine/opaque-ids.ts'
import { PayloadReader } from '../../engine/payloads/payload-reader.ts'
import { PayloadSealer } from '../../engine/payloads/sealing.ts'
import { SpaceGuard } from '../../engine/payloads/space-guard.ts'
import { UploadStore } from '../../engine/payloads/upload-store.ts'
import { PortEngineClient } from '../../engine/port-client.ts'
import { SecretBox } from '../../engine/secret-box.ts'
import { ConcurrencyGate } from '../../planes/http/concurrency-gate.ts'
import { type HttpListener, listen } from '../../planes/http/uws-server.ts'
import { Authenticator, type Credential } from '../../planes/s3/authenticate.ts'
import { CredentialDirectory } from '../../planes/s3/credential-directory.ts'
import { malformedRequestResponse } from '../../planes/s3/error-response.ts'
import { createS3Handler } from '../../planes/s3/s3-plane.ts'
import type { S3Services } from '../../planes/s3/services.ts'
import { AccessReader } from '../../projections/access-reader.ts'
import { CatalogReader } from '../../projections/catalog-reader.ts'
import { ProjectionEnvironment } from '../../projections/lmdb-environment.ts'
import { createLogger } from '../logger.ts'
import { FrontEndTelemetry } from './front-end-telemetry.ts'
import type { FromFrontEnd, FrontEndThreadData, ToFrontEnd } from './thread-messages.ts'

/** A front end of the S3 plane: parses, authenticates, hashes, reads; every change goes to the engine thread. */

const main = parentPort
if (main === null) throw new Error('a front end must be started by the server')
const data = workerData as FrontEndThreadData
const tell = (message: FromFrontEnd) => main.postMessage(message)
const log = createLogger({ level: data.logLevel as never, bindings: { thread: `front-end-${data.thread}` } })
let listener: HttpListener | undefined

/** Undefined when root may not be used on this plane. */
function rootCredential(): Credential | undefined {
  if (!data.rootEnabled) return undefined
  const { rootAccessKey: accessKey, rootSecretKey: secretKey } = data
  return { accessKey, secretKey, principal: 'system:root', credentialId: accessKey, policies: undefined }
}

/** How often a thread lets go of volumes that compaction removed. */
const CLOSE_REMOVED_MILLISECONDS = 2000

function services(environment: ProjectionEnvironment): S3Services {
  const paths = new StorePaths(data.dataDirectory)
  const sealer = new PayloadSealer(data.payloadKey)
  const payloads = new PayloadReader(nodeDisk, paths, sealer)
  setInterval(() => payloads.closeRemoved(), CLOSE_REMOVED_MILLISECONDS).unref()
  return {
    engine: new PortEngineClient(data.port),
    catalog: new CatalogReader(environment),
    payloads,
    uploads: new UploadStore(nodeDisk, paths, data.start, data.thread, data.encryptionEnabled ? sealer : undefined),
    space: new SpaceGuard(nodeDisk, paths.root, data.reservedBytes),
    inlineBytesMaximum: data.inlineBytesMaximum,
    tokenKey: Buffer.from(data.tokenKey),
    versionIds: new OpaqueIds(data.versionIdKey),
    uploadIds: new OpaqueIds(data.uploadIdKey),
    owner: { id: data.deploymentId, displayName: 'root' },
    clock: Date.now,
  }
}

/** A thread that ends with a listener open takes the process with it without a word (see uws-server.ts). */
async function stop(graceMilliseconds: number): Promise<void> {
  await listener?.close(graceMilliseconds)
  await log.flush()
  tell({ kind: 'stopped' })
  data.port.close()
  main?.close()
}

function reload(): void {
  try {
    tell({ kind: 'reloaded', changed: listener?.reloadTls() ?? false })
  } catch (error) {
    tell({ kind: 'reloaded', changed: false, problem: (error as Error).message })
  }
}

process.on('uncaughtException', (error) => {
  log.log.fatal({ err: error }, 'a front end failed')
  tell({ kind: 'failed', message: error.message })
  void stop(0)
})

const environment = ProjectionEnvironment.open(new StorePaths(data.dataDirectory).projections, { readOnly: true })
const gate = new ConcurrencyGate({
  operationsMaximum: data.operationsMaximum,
  queueMaximum: data.queueMaximum,
  waitMillisecondsMaximum: data.queueWaitMilliseconds,
})
const telemetry = new FrontEndTelemetry(data.metrics, data.thread, log, data.logRequests)
telemetry.watchGate(gate)
main.on('message', (message: ToFrontEnd) => {
  switch (message.kind) {
    case 'stop':
      void stop(message.graceMilliseconds)
      return
    case 'reload':
      reload()
  }
})
try {
  const secrets = new SecretBox(data.credentialKey)
  const changes = () => Atomics.load(data.accessChanges, 0)
  const access = new AccessReader(environment)
  const directory = new CredentialDirectory(access, secrets, rootCredential(), Date.now, changes)
  const authenticator = new Authenticator({ lookup: (accessKey) => directory.lookup(accessKey), clock: Date.now })
  listener = await listen({
    host: data.host,
    port: data.listenPort,
    tls: data.tls,
    handler: createS3Handler({ services: services(environment), authenticator, gate, telemetry }),
    connectionsMaximum: data.connectionsMaximum,
    stallTimeoutMilliseconds: data.stallTimeoutMilliseconds,
    onHandlerError: (error) => log.log.error({ err: error }, 'a response failed'),
    refusal: malformedRequestResponse,
  })
  tell({ kind: 'ready', port: listener.port })
} catch (error) {
  tell({ kind: 'failed', message: error instanceof Error ? error.message : String(error) })
  await stop(0)
}
