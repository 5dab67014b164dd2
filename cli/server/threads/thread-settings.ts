/** Settings for the threads of a server, from its configuration. */
import { nodeDisk } from '../../../engine/disk/node-disk.ts'
import { StorePaths } from '../../../engine/disk/store-paths.ts'
import type { ConcurrencyLimits } from '../../../planes/http/limits/concurrency-gate.ts'
import type { SharedGate } from '../../../planes/http/limits/gate-memory.ts'
import type { MetricSlots } from '../../../planes/metrics/metric-slots.ts'
import type { Config } from '../../config/config-types.ts'
import type { ServerCredentials } from '../../config/server-credentials.ts'
import { connectionLimits } from '../connection-limit.ts'
import { keysOf } from '../../access/access-keys.ts'
import type { SessionSettings } from '../store/store-session.ts'
import type { EngineThread } from './engine-thread-handle.ts'
import type { FrontEndSettings } from './front-ends.ts'

/** When the disk is full, reads stop when half a segment is left: in it all records must fit that are on their way. */
export function auditBytesMaximum(config: Config, frontEnds: number): number {
  const segmentBytes = config['storage.segment_mib'] * 1024 ** 2
  return Math.min(4 << 20, Math.floor(segmentBytes / 8 / (frontEnds + 1)))
}

/** Settings of every thread's session of the store. */
export function sessionSettings(config: Config, credentials: ServerCredentials, engine: EngineThread): SessionSettings {
  const { deploymentId, start } = engine
  return {
    dataDirectory: config.data_dir,
    deploymentId,
    start,
    keys: keysOf(nodeDisk, new StorePaths(config.data_dir), credentials.masterKey),
    encryptionEnabled: config['storage.encryption_enabled'],
    reservedBytes: config['storage.reserved_mib'] * 1024 ** 2,
  }
}

/** How many operations run and wait at a time. */
export function concurrencyLimits(config: Config): ConcurrencyLimits {
  return {
    operationsMaximum: config['limits.maximum_concurrent_operations'],
    queueMaximum: config['limits.maximum_queued_operations'],
    waitMillisecondsMaximum: config['limits.queue_wait_seconds'] * 1000,
    accountPercent: config['limits.account_share_percent'],
  }
}

/** Settings for all listeners about clients: when a slow client is cut off, and which addresses are proxies. */
export function clientSettings(config: Config) {
  const seconds = config['server.stall_timeout_seconds']
  return {
    stallTimeoutMilliseconds: seconds * 1000,
    minimumBytes: config['server.minimum_bytes_per_second'] * seconds,
    trustedProxies: config['server.trusted_proxies'],
  }
}

/** Settings for front ends. */
export function frontEndSettings(
  config: Config,
  credentials: ServerCredentials,
  session: SessionSettings,
  metrics: MetricSlots,
  gate: SharedGate,
  count: number,
): Omit<FrontEndSettings, 'tls' | 'commitCounts' | 'driver'> {
  return {
    ...session,
    metrics: metrics.shared,
    host: config['s3.bind'].host,
    connectionsMaximum: connectionLimits(count).frontEnd,
    hostnames: config['s3.hostnames'],
    extensions: new Set(config['s3.extensions']),
    publicReadPrefixes: config['s3.public_read_prefixes'],
    unsignedChunksOverHttp: config['s3.unsigned_chunks_over_http'],
    rootAccessKey: credentials.rootAccessKey,
    rootSecretKey: credentials.rootSecretKey.reveal(),
    rootEnabled: config['root.s3_enabled'],
    sharingEnabled: config['sharing.enabled'],
    inlineBytesMaximum: config['storage.inline_limit_bytes'],
    auditBytesMaximum: auditBytesMaximum(config, count),
    limits: concurrencyLimits(config),
    gate,
    ...clientSettings(config),
    graceMilliseconds: config['server.shutdown_grace_period_seconds'] * 1000,
    logLevel: config['log.level'],
    logFormat: config['log.format'],
    logRequests: config['log.requests'],
  }
}
