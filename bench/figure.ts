/** One thing the machine can do at best, measured in the same run; see machine-limits.ts. */
export type LimitName =
  | 'http'
  | 'sync-preallocated'
  | 'sync-growing'
  | 'md5'
  | 'sha256'
  | 'crc32'
  | 'page-cache-read'
  | 'disk-write'

/** Units of figures. All rates are per second of wall clock. */
export type Unit = 'per second' | 'MiB/s' | 'MiB' | 'bytes' | 's' | 'ms' | 'ratio'

export interface MachineLimit {
  readonly name: LimitName
  readonly label: string
  readonly value: number
  readonly unit: Unit
}

export interface LatencyMilliseconds {
  readonly p50: number
  readonly p90: number
  readonly p99: number
  readonly maximum: number
}

/** One measured value. */
export interface Figure {
  /** Stable name by which bars are found and results compared, such as `put-4-kib-c32`. */
  readonly name: string
  readonly label: string
  readonly value: number
  readonly unit: Unit
  readonly latency?: LatencyMilliseconds | undefined
  /** Processor time of the server for each request, in microseconds. */
  readonly processorMicroseconds?: number | undefined
  /** The limits of the machine that bound this figure; the report shows the lowest. */
  readonly limits?: readonly LimitName[]
  readonly note?: string | undefined
}
