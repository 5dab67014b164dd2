import type { Config } from '../../config/config-types.ts'
import type { ServerCredentials } from '../../config/server-credentials.ts'
import { packageVersion } from '../../version.ts'
import { kernelBootId } from './host.ts'

const MEBIBYTE = 1024 ** 2

/** Settings of a store that the engine needs. Sizes are bytes. */
export interface StoreOptions {
  readonly masterKey: Uint8Array
  /** A store that still has this one gets `masterKey` in its place. */
  readonly previousMasterKey?: Uint8Array | undefined
  readonly segmentBytes: number
  readonly volumeBytes: number
  readonly reservedBytes: number
  /** Bytes of journal a second for records of requests without valid credentials. */
  readonly strangerBytesPerSecond: number
  /** How far the clock may be behind the journal before retention cannot be judged. */
  readonly clockToleranceSeconds: number
  /** Logical bytes that a bucket may hold by references for each byte that it received. */
  readonly referenceRatioMaximum: number
  /** How often the time is written to the journal when nothing else is. */
  readonly clockIntervalSeconds: number
  /** Version of the program, for the journal. */
  readonly version: string
  /** Boot id of the host's kernel. */
  readonly bootId: string
  /** The socket that holds the lock; undefined where no other process can be. */
  readonly lockPath?: string | undefined
}

/** The settings of the engine, from the configuration. */
export function storeOptions(
  config: Config,
  { masterKey, previousMasterKey }: Pick<ServerCredentials, 'masterKey' | 'previousMasterKey'>,
): StoreOptions {
  return {
    masterKey,
    previousMasterKey,
    segmentBytes: config['storage.segment_mib'] * MEBIBYTE,
    volumeBytes: config['storage.volume_mib'] * MEBIBYTE,
    reservedBytes: config['storage.reserved_mib'] * MEBIBYTE,
    strangerBytesPerSecond: config['audit.anonymous_kib_per_second'] * 1024,
    clockToleranceSeconds: config['object_lock.clock_backwards_tolerance_seconds'],
    referenceRatioMaximum: config['storage.reference_ratio_maximum'],
    clockIntervalSeconds: config['object_lock.clock_watermark_interval_seconds'],
    version: packageVersion(),
    bootId: kernelBootId(),
  }
}
