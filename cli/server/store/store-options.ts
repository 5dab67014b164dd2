import type { Config } from '../../config/config-types.ts'
import { packageVersion } from '../../version.ts'
import { kernelBootId } from './host.ts'
import type { StoreOptions } from './open-store.ts'

const MEBIBYTE = 1024 ** 2

/** The settings of the engine, from the configuration. */
export function storeOptions(config: Config, masterKey: Uint8Array): StoreOptions {
  return {
    masterKey,
    segmentBytes: config['storage.segment_mib'] * MEBIBYTE,
    volumeBytes: config['storage.volume_mib'] * MEBIBYTE,
    reservedBytes: config['storage.reserved_mib'] * MEBIBYTE,
    strangerBytesPerSecond: config['audit.anonymous_kib_per_second'] * 1024,
    clockToleranceSeconds: config['object_lock.clock_backwards_tolerance_seconds'],
    clockIntervalSeconds: config['object_lock.clock_watermark_interval_seconds'],
    version: packageVersion(),
    bootId: kernelBootId(),
  }
}
