import type { MessagePort } from 'node:worker_threads'
import type { SharedMetrics } from '../../planes/http/metric-slots.ts'
import type { TlsFiles } from '../../planes/http/tls-files.ts'
import type { OpeningReport, StoreOptions } from '../store/open-store.ts'

/** What the engine thread is started with. */
export interface EngineThreadData {
  readonly dataDirectory: string
  /** One number, raised after each change of who may do what. */
  readonly accessChanges: Int32Array<SharedArrayBuffer>
  readonly options: StoreOptions
  readonly metrics: SharedMetrics
  /** Its region of the metrics. */
  readonly thread: number
}

/** From the main thread to the engine thread. */
export type ToEngineThread =
  /** A front end, or the main thread itself, that will send requests through the port. */
  | { readonly kind: 'attach'; readonly port: MessagePort }
  /** Finish what waits, note the clean stop, close. No requests may come any more. */
  | { readonly kind: 'stop' }

/** From the engine thread to the main thread. */
export type FromEngineThread =
  | {
      readonly kind: 'ready'
      readonly deploymentId: string
      readonly start: string
      readonly report: OpeningReport
    }
  /** It could not start, or it must not go on: `error` is the name of the error's class. */
  | { readonly kind: 'failed'; readonly error: string; readonly message: string }
  | { readonly kind: 'stopped' }

/** What a front end is started with. */
export interface FrontEndThreadData {
  readonly dataDirectory: string
  readonly thread: number
  readonly metrics: SharedMetrics
  readonly port: MessagePort
  readonly deploymentId: string
  readonly start: string
  readonly host: string
  readonly listenPort: number
  readonly connectionsMaximum: number
  readonly tls: TlsFiles | undefined
  readonly rootAccessKey: string
  readonly rootSecretKey: string
  readonly rootEnabled: boolean
  readonly tokenKey: Uint8Array
  readonly versionIdKey: Uint8Array
  /** Opens the secrets of credentials. */
  readonly credentialKey: Uint8Array
  /** One number, raised after each change of who may do what. */
  readonly accessChanges: Int32Array<SharedArrayBuffer>
  readonly uploadIdKey: Uint8Array
  /** What the keys of encrypted payloads are derived from. */
  readonly payloadKey: Uint8Array
  /** Whether new payloads are encrypted. */
  readonly encryptionEnabled: boolean
  readonly inlineBytesMaximum: number
  readonly reservedBytes: number
  readonly operationsMaximum: number
  readonly queueMaximum: number
  readonly queueWaitMilliseconds: number
  readonly stallTimeoutMilliseconds: number
  readonly graceMilliseconds: number
  readonly logLevel: string
  readonly logRequests: 'all' | 'errors' | 'none'
}

/** From the main thread to a front end. */
export type ToFrontEnd =
  | { readonly kind: 'stop'; readonly graceMilliseconds: number }
  /** Read the certificate and the key again; asked once more only when it was answered. */
  | { readonly kind: 'reload' }

/** From a front end to the main thread. */
export type FromFrontEnd =
  | { readonly kind: 'ready'; readonly port: number }
  | { readonly kind: 'failed'; readonly message: string }
  /** `changed`: a new certificate is served. With a problem everything stays as it was. */
  | { readonly kind: 'reloaded'; readonly changed: boolean; readonly problem?: string }
  | { readonly kind: 'stopped' }
