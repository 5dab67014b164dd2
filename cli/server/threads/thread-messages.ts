import type { MessagePort } from 'node:worker_threads'
import type { HashPorts } from '../../../engine/hashing/hash-messages.ts'
import type { ConcurrencyLimits } from '../../../planes/http/limits/concurrency-gate.ts'
import type { HttpDriver } from '../../../planes/http/http-driver.ts'
import type { SharedGate } from '../../../planes/http/limits/gate-memory.ts'
import type { Recounted } from '../../../projections/apply/recount.ts'
import type { SharedCounts } from '../../../projections/catalog/commit-counts.ts'
import type { RoomFor } from '../../../engine/journal/journal-room.ts'
import type { SharedMetrics } from '../../../planes/metrics/metric-slots.ts'
import type { Extensions, UnsignedChunks } from '../../../planes/objects/s3-extensions.ts'
import type { TlsFiles } from '../../../planes/http/tls-files.ts'
import type { Config } from '../../config/config-types.ts'
import type { OpeningReport, ReplayReport } from '../store/opened-store.ts'
import type { StoreOptions } from '../store/store-options.ts'
import type { SessionSettings } from '../store/store-session.ts'

/** Start data of the engine thread. */
export interface EngineThreadData {
  readonly dataDirectory: string
  readonly commitCounts: SharedCounts
  readonly options: StoreOptions
  /** [0] is 1 when the start is to end. */
  readonly stopAsked: Int32Array<SharedArrayBuffer>
  readonly metrics: SharedMetrics
  /** Its region of the metrics. */
  readonly thread: number
}

/** From the main thread to any: answer from the event loop. */
export interface Ask {
  readonly kind: 'ask'
}

/** The answer: what keeps the thread from serving, if anything. */
export interface Answered {
  readonly kind: 'answered'
  readonly problem?: string
}

/** From the main thread to the engine thread. */
export type ToEngineThread =
  | Ask
  /** A front end or the main thread will send requests through the port. */
  | { readonly kind: 'attach'; readonly port: MessagePort }
  /** Finish waiting work, record the clean stop, close. No requests may follow. */
  | { readonly kind: 'stop' }

/** From the engine thread to the main thread. */
export type FromEngineThread =
  | Answered
  | {
      readonly kind: 'ready'
      readonly deploymentId: string
      readonly start: string
      readonly report: OpeningReport
    }
  /** It could not start or cannot continue; `error` is the name of the error's class. */
  | { readonly kind: 'failed'; readonly error: string; readonly message: string }
  | { readonly kind: 'room'; readonly roomFor: RoomFor }
  /** Before it is ready: how far it has brought the projections. */
  | { readonly kind: 'replayed'; readonly report: ReplayReport }
  /** Counters were wrong, and were counted again. */
  | { readonly kind: 'recounted'; readonly found: Recounted }
  /** `unrecorded`: how many records of answered requests are kept for the next start, or were lost by a problem. */
  | { readonly kind: 'stopped'; readonly unrecorded?: Unrecorded }

/** Records of answered requests that the journal could not take. */
export interface Unrecorded {
  readonly count: number
  readonly problem: string | undefined
}

/** Start data of a front end. */
export interface FrontEndThreadData extends SessionSettings {
  readonly thread: number
  readonly metrics: SharedMetrics
  readonly port: MessagePort
  /** To the threads that hash uploads. */
  readonly hashing: HashPorts
  readonly host: string
  readonly listenPort: number
  /** No other front end listens on the port. */
  readonly isAlone: boolean
  readonly driver: HttpDriver
  readonly connectionsMaximum: number
  readonly tls: TlsFiles | undefined
  /** The setting `s3.hostnames`. */
  readonly hostnames: readonly string[] | undefined
  /** The setting `s3.extensions`. */
  readonly extensions: Extensions
  /** The setting `s3.public_read_prefixes`. */
  readonly publicReadPrefixes: readonly string[]
  /** The setting `s3.unsigned_chunks_over_http`. */
  readonly unsignedChunksOverHttp: UnsignedChunks
  readonly rootAccessKey: string
  readonly rootSecretKey: string
  readonly rootEnabled: boolean
  readonly commitCounts: SharedCounts
  /** Whether shares and embeds are followed. */
  readonly sharingEnabled: boolean
  readonly inlineBytesMaximum: number
  /** Bytes of audit records on their way to the journal before answers wait. */
  readonly auditBytesMaximum: number
  readonly limits: ConcurrencyLimits
  /** The gate of all front ends and of the management plane. */
  readonly gate: SharedGate
  readonly stallTimeoutMilliseconds: number
  /** Minimum bytes of a transfer in that time when places are short. */
  readonly minimumBytes: number
  /** The setting `server.trusted_proxies`. */
  readonly trustedProxies: readonly string[]
  readonly graceMilliseconds: number
  readonly logLevel: Config['log.level']
  readonly logFormat: Config['log.format']
  readonly logRequests: 'all' | 'errors' | 'none'
}

/** From the main thread to a front end. */
export type ToFrontEnd =
  | Ask
  | { readonly kind: 'stop'; readonly graceMilliseconds: number }
  /** Read certificate and key again; sent again only after the answer. */
  | { readonly kind: 'reload' }

/** From a front end to the main thread. */
export type FromFrontEnd =
  | Answered
  | { readonly kind: 'ready'; readonly port: number }
  | { readonly kind: 'failed'; readonly message: string }
  /** The first large upload comes: start the threads that hash. */
  | { readonly kind: 'hash' }
  /** `changed`: a new certificate is served. With a problem the old one stays. */
  | { readonly kind: 'reloaded'; readonly changed: boolean; readonly problem?: string }
  | { readonly kind: 'stopped' }
