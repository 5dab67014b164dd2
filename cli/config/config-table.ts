/**
 * Every setting of the object store, one row each. The reader, the types, `config show` and spec/configuration.md are
 * made from this table.
 */
import { EXTENSIONS } from '../../planes/objects/s3-extensions.ts'

/** Type of a value; config-values.ts has one parser for each kind. */
export type ConfigKind =
  | 'text'
  | 'integer'
  | 'boolean'
  | 'address'
  | 'path'
  | 'secret'
  | 'choice'
  | 'choices'
  | 'host names'

/** Further rules for a text or secret; config-values.ts has one check for each. */
export type ConfigForm = 'access-key' | 'master-key' | 'base-url' | 'log-name'

export interface ConfigRow {
  /** Dotted name: the key in a TOML file (`s3.bind` is `bind` in the table `[s3]`). */
  readonly name: string
  readonly kind: ConfigKind
  /** Unit of an integer in words. */
  readonly unit?: string
  /** Inclusive. Of an integer: its value in `unit`; of a text or secret: its length in bytes; of host names: how many. */
  readonly bounds?: { readonly minimum: number; readonly maximum: number }
  readonly choices?: readonly string[]
  readonly form?: ConfigForm
  /** Secrets never have one. */
  readonly default?: string | number | boolean | readonly string[]
  /** Its own option; any other setting is given by `--set name=value`. */
  readonly flag?: string
  /** `start` if absent. */
  readonly sentence: string
}

const MEBIBYTES_PER_TEBIBYTE = 1024 * 1024

export const configTable = [
  {
    name: 'data_dir',
    kind: 'path',
    default: './data',
    flag: '--data-dir',
    sentence: 'Directory that holds the journal, the payloads and the projections.',
  },
  {
    name: 'secrets_file',
    kind: 'path',
    sentence:
      'File of secrets that `object-store quickstart` makes; without it, the data directory with `.secrets.env` behind its name.',
  },
  {
    name: 's3.bind',
    kind: 'address',
    default: '127.0.0.1:7600',
    flag: '--s3-bind',
    sentence: 'Address the S3 data plane listens on; port 0 takes any free port.',
  },
  {
    name: 's3.hostnames',
    kind: 'host names',
    bounds: { minimum: 1, maximum: 64 },
    sentence:
      'Names under which clients reach the S3 data plane, such as that of a proxy; every IP address and localhost are names already. By default also that of the machine and those in its certificate.',
  },
  {
    name: 's3.extensions',
    kind: 'choices',
    choices: EXTENSIONS,
    default: [],
    sentence: 'Parts of S3 that are served beyond those that always are; each is refused while it is not named here.',
  },
  {
    name: 's3.unsigned_chunks_over_http',
    kind: 'boolean',
    default: false,
    sentence:
      'Whether the extension aws-chunked takes unsigned chunks with a trailing checksum over plain HTTP too, where whoever is in between can change both.',
  },
  {
    name: 's3.tls_certificate_file',
    kind: 'path',
    sentence:
      'PEM file with the certificate of the S3 data plane, then its chain: makes it speak TLS. SIGHUP reads it again.',
  },
  {
    name: 's3.tls_key_file',
    kind: 'path',
    sentence: 'PEM file with the private key of that certificate, without a passphrase.',
  },
  {
    name: 's3.front_ends',
    kind: 'integer',
    unit: 'threads',
    bounds: { minimum: 0, maximum: 64 },
    default: 0,
    sentence: 'Threads that serve S3 requests; 0 takes one less than there are processor cores, and at least one.',
  },
  {
    name: 'api.bind',
    kind: 'address',
    default: '127.0.0.1:7601',
    flag: '--api-bind',
    sentence: 'Address the management listener (health, readiness, metrics) listens on.',
  },
  {
    name: 'api.tls_certificate_file',
    kind: 'path',
    sentence: 'PEM file with the certificate of the management listener, then its chain. SIGHUP reads it again.',
  },
  {
    name: 'api.tls_key_file',
    kind: 'path',
    sentence: 'PEM file with the private key of that certificate, without a passphrase.',
  },
  {
    name: 'console.enabled',
    kind: 'boolean',
    default: true,
    sentence: 'Whether the web console is served.',
  },
  {
    name: 'console.bind',
    kind: 'address',
    default: '127.0.0.1:7602',
    flag: '--console-bind',
    sentence: 'Address the web console listens on; the management interface is there too, below /api/v1.',
  },
  {
    name: 'console.tls_certificate_file',
    kind: 'path',
    sentence: 'PEM file with the certificate of the web console, then its chain. SIGHUP reads it again.',
  },
  {
    name: 'console.tls_key_file',
    kind: 'path',
    sentence: 'PEM file with the private key of that certificate, without a passphrase.',
  },
  {
    name: 'root.access_key',
    kind: 'text',
    bounds: { minimum: 3, maximum: 128 },
    form: 'access-key',
    sentence: 'Access key of the root credential; the server does not start without it.',
  },
  {
    name: 'root.secret_key',
    kind: 'secret',
    bounds: { minimum: 16, maximum: 256 },
    sentence: 'Secret key of the root credential; the server does not start without it.',
  },
  {
    name: 'root.s3_enabled',
    kind: 'boolean',
    default: true,
    sentence: 'Whether the root credential may be used on the S3 data plane.',
  },
  {
    name: 'credential_master_key',
    kind: 'secret',
    form: 'master-key',
    sentence:
      'Master key from which every sealing and signing key is derived: 64 hexadecimal digits or the base64 of 32 bytes.',
  },
  {
    name: 'previous_credential_master_key',
    kind: 'secret',
    form: 'master-key',
    sentence: 'Master key to be changed: a store that still has this one gets credential_master_key in its place.',
  },
  {
    name: 'management.system_token',
    kind: 'secret',
    bounds: { minimum: 32, maximum: 1024 },
    sentence: 'Bearer token of the system administrator on the management listener.',
  },
  {
    name: 'metrics.scrape_token',
    kind: 'secret',
    bounds: { minimum: 16, maximum: 1024 },
    sentence: 'Bearer token that opens /metrics; without one the metrics stay closed.',
  },
  {
    name: 'limits.maximum_concurrent_operations',
    kind: 'integer',
    unit: 'operations',
    bounds: { minimum: 1, maximum: 65_536 },
    default: 1024,
    sentence: 'Operations that may run at the same time, on both planes together; further ones wait in the queue.',
  },
  {
    name: 'limits.maximum_queued_operations',
    kind: 'integer',
    unit: 'operations',
    bounds: { minimum: 0, maximum: 1_048_576 },
    default: 4096,
    sentence: 'Operations that may wait for a turn; further ones are refused with SlowDown. 0: none may wait.',
  },
  {
    name: 'limits.queue_wait_seconds',
    kind: 'integer',
    unit: 'seconds',
    bounds: { minimum: 1, maximum: 300 },
    default: 10,
    sentence: 'How long an operation may wait for a turn before it is refused with SlowDown.',
  },
  {
    name: 'limits.account_share_percent',
    kind: 'integer',
    unit: 'percent',
    bounds: { minimum: 1, maximum: 100 },
    default: 50,
    sentence:
      'How much of the operations that may run, and of the queue, one account may have; administrators may have all.',
  },
  {
    name: 'storage.inline_limit_bytes',
    kind: 'integer',
    unit: 'bytes',
    bounds: { minimum: 0, maximum: 1_048_576 },
    default: 65_536,
    sentence: 'Objects up to this size are packed into volumes; larger ones get a file each.',
  },
  {
    name: 'storage.segment_mib',
    kind: 'integer',
    unit: 'MiB',
    bounds: { minimum: 1, maximum: 1024 },
    default: 64,
    sentence: 'Size of a new journal segment.',
  },
  {
    name: 'storage.compress_segments',
    kind: 'boolean',
    default: true,
    sentence:
      'Whether sealed segments of the journal are compressed; those that were stay so, and are readable either way.',
  },
  {
    name: 'storage.compress_after_hours',
    kind: 'integer',
    unit: 'hours',
    bounds: { minimum: 0, maximum: 87_600 },
    default: 24,
    sentence: 'How long after it was sealed a segment is compressed.',
  },
  {
    name: 'storage.compress_mib_per_second',
    kind: 'integer',
    unit: 'MiB/s',
    bounds: { minimum: 1, maximum: 1024 },
    default: 16,
    sentence:
      'How fast segments are compressed at most: bytes of journal that are read in a second, each once to compress it and once to verify the result.',
  },
  {
    name: 'storage.volume_mib',
    kind: 'integer',
    unit: 'MiB',
    bounds: { minimum: 1, maximum: 1024 },
    default: 64,
    sentence: 'Size of a new payload volume.',
  },
  {
    name: 'storage.reserved_mib',
    kind: 'integer',
    unit: 'MiB',
    bounds: { minimum: 0, maximum: MEBIBYTES_PER_TEBIBYTE },
    default: 256,
    sentence: 'Free space that uploads may not use, so that deletes still work when the disk is full.',
  },
  {
    name: 'audit.anonymous_kib_per_second',
    kind: 'integer',
    unit: 'KiB/s',
    bounds: { minimum: 1, maximum: MEBIBYTES_PER_TEBIBYTE },
    default: 64,
    sentence:
      'Journal that requests without valid credentials may write with a record each, after the first 16 seconds of it; ' +
      'those beyond are counted, in one record for each address and 10 seconds.',
  },
  {
    name: 'storage.metadata_cache_mib',
    kind: 'integer',
    unit: 'MiB',
    bounds: { minimum: 16, maximum: 65_536 },
    default: 128,
    sentence:
      'Page cache of the metadata stores. LMDB reads through the page cache of the kernel, so it is checked and bounds nothing.',
  },
  {
    name: 'storage.encryption_enabled',
    kind: 'boolean',
    default: false,
    sentence:
      'Whether the bytes of new objects are encrypted on disk; what is stored stays as it is, and is readable either way.',
  },
  {
    name: 'snapshots.enabled',
    kind: 'boolean',
    default: true,
    sentence:
      'Whether snapshots of the projections are made, so that a start after a power cut need not replay the whole journal.',
  },
  {
    name: 'snapshots.records',
    kind: 'integer',
    unit: 'records',
    bounds: { minimum: 1000, maximum: 1_000_000_000 },
    default: 1_000_000,
    sentence: 'Records in sealed segments after the last snapshot from which on the next one is made.',
  },
  {
    name: 'snapshots.interval_minutes',
    kind: 'integer',
    unit: 'minutes',
    bounds: { minimum: 1, maximum: 10_080 },
    default: 60,
    sentence: 'After so long a snapshot is made as soon as a segment has been sealed since the last one.',
  },
  {
    name: 'snapshots.mib_per_second',
    kind: 'integer',
    unit: 'MiB/s',
    bounds: { minimum: 1, maximum: 10_240 },
    default: 32,
    sentence: 'Rate at which a snapshot is written, at most.',
  },
  {
    name: 'snapshots.kept',
    kind: 'integer',
    unit: 'snapshots',
    bounds: { minimum: 1, maximum: 2 },
    default: 2,
    sentence: 'How many snapshots are kept; the second is for the case that the first is damaged.',
  },
  {
    name: 'object_lock.clock_watermark_interval_seconds',
    kind: 'integer',
    unit: 'seconds',
    bounds: { minimum: 1, maximum: 3600 },
    default: 60,
    sentence: 'How often the time is recorded while nothing else is, so that a clock set back is noticed.',
  },
  {
    name: 'object_lock.clock_backwards_tolerance_seconds',
    kind: 'integer',
    unit: 'seconds',
    bounds: { minimum: 0, maximum: 3600 },
    default: 5,
    sentence:
      'How far the clock may be behind the last recorded time before the server stops releasing retained versions.',
  },
  {
    name: 'lifecycle.interval_seconds',
    kind: 'integer',
    unit: 'seconds',
    bounds: { minimum: 1, maximum: 86_400 },
    default: 3600,
    sentence: 'How often a pass over the lifecycle rules begins.',
  },
  {
    name: 'lifecycle.batch_size',
    kind: 'integer',
    unit: 'entries',
    bounds: { minimum: 1, maximum: 1000 },
    default: 100,
    sentence: 'What one pass removes at most for each rule and action: objects, or versions that are not current.',
  },
  {
    name: 'scrub.interval_days',
    kind: 'integer',
    unit: 'days',
    bounds: { minimum: 0, maximum: 3650 },
    default: 30,
    sentence:
      'Days from the end of a scrub, which reads everything that is stored to find damage, to the begin of the next; 0: only on request.',
  },
  {
    name: 'scrub.mib_per_second',
    kind: 'integer',
    unit: 'MiB/s',
    bounds: { minimum: 1, maximum: 10_000 },
    default: 16,
    sentence: 'What a scrub reads at most.',
  },
  {
    name: 'checkpoints.interval_seconds',
    kind: 'integer',
    unit: 'seconds',
    bounds: { minimum: 0, maximum: 86_400 },
    default: 0,
    sentence:
      'Time between two signed checkpoints of the journal while there are new records; 0: none is made, and no trees.',
  },
  {
    name: 'checkpoints.heartbeat_seconds',
    kind: 'integer',
    unit: 'seconds',
    bounds: { minimum: 1, maximum: 86_400 },
    default: 3600,
    sentence: 'After so long a checkpoint is signed without new records too, so that silence can be told from a stop.',
  },
  {
    name: 'checkpoints.origin',
    kind: 'text',
    bounds: { minimum: 1, maximum: 128 },
    form: 'log-name',
    default: 'object-store',
    sentence:
      'How the name of the log of checkpoints begins, such as the host name of the store; the id of the deployment follows. Another name is another log.',
  },
  {
    name: 'webhooks.allow_http',
    kind: 'boolean',
    default: false,
    sentence: 'Whether webhooks may be sent without TLS.',
  },
  {
    name: 'webhooks.allow_private_networks',
    kind: 'boolean',
    default: false,
    sentence: 'Whether webhooks may be sent to private networks and to this machine, but never to this server itself.',
  },
  {
    name: 'webhooks.request_timeout_seconds',
    kind: 'integer',
    unit: 'seconds',
    bounds: { minimum: 1, maximum: 120 },
    default: 10,
    sentence: 'How long one delivery may take, from the resolution of the name to the end of the response.',
  },
  {
    name: 'webhooks.maximum_attempts',
    kind: 'integer',
    unit: 'attempts',
    bounds: { minimum: 1, maximum: 20 },
    default: 6,
    sentence: 'How often a delivery is tried before it has failed for good.',
  },
  {
    name: 'webhooks.poll_interval_seconds',
    kind: 'integer',
    unit: 'seconds',
    bounds: { minimum: 1, maximum: 60 },
    default: 2,
    sentence: 'How often new storage events are looked for to be delivered.',
  },
  {
    name: 'webhooks.ca_file',
    kind: 'path',
    sentence:
      'PEM file with certificates of authorities that targets of webhooks are trusted by, beside those of Node.js.',
  },
  {
    name: 'sharing.enabled',
    kind: 'boolean',
    default: true,
    sentence: 'Whether shares and embeds can be made, and those that there are be followed.',
  },
  {
    name: 'sharing.maximum_lifetime_seconds',
    kind: 'integer',
    unit: 'seconds',
    bounds: { minimum: 0, maximum: 315_360_000 },
    default: 0,
    sentence: 'How long a share or embed may live that is made from now on; 0 for as long as its maker says.',
  },
  {
    name: 'sharing.require_password',
    kind: 'boolean',
    default: false,
    sentence: 'Whether a share that is made from now on needs a password.',
  },
  {
    name: 'sharing.public_share_url',
    kind: 'text',
    bounds: { minimum: 8, maximum: 1024 },
    form: 'base-url',
    sentence:
      'What the addresses of shares begin with, such as https://files.example.com; without it, the address of the management listener.',
  },
  {
    name: 'sharing.public_embed_url',
    kind: 'text',
    bounds: { minimum: 8, maximum: 1024 },
    form: 'base-url',
    sentence: 'What the addresses of embeds begin with; without it, the address of the S3 listener.',
  },
  {
    name: 'server.http_driver',
    kind: 'choice',
    choices: ['auto', 'uws', 'node'],
    default: 'auto',
    sentence:
      'What speaks HTTP: uWebSockets.js (uws), or the HTTP of Node (node); auto takes uWebSockets.js where its binary can be loaded.',
  },
  {
    name: 'server.shutdown_grace_period_seconds',
    kind: 'integer',
    unit: 'seconds',
    bounds: { minimum: 1, maximum: 300 },
    default: 30,
    sentence: 'How long requests in progress may take to finish after the server was asked to stop.',
  },
  {
    name: 'server.stall_timeout_seconds',
    kind: 'integer',
    unit: 'seconds',
    bounds: { minimum: 5, maximum: 3600 },
    default: 60,
    sentence: 'How long a transfer may make no progress before its connection is closed.',
  },
  {
    name: 'server.minimum_bytes_per_second',
    kind: 'integer',
    unit: 'bytes/s',
    bounds: { minimum: 0, maximum: 1_048_576 },
    default: 1024,
    sentence:
      'What a transfer must move, over the stall timeout, to keep its connection while operations or connections are short; otherwise any progress will do.',
  },
  {
    name: 'log.level',
    kind: 'choice',
    choices: ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'],
    default: 'info',
    flag: '--log-level',
    sentence: 'Least severe level that is written to the log.',
  },
  {
    name: 'log.format',
    kind: 'choice',
    choices: ['auto', 'json', 'text'],
    default: 'auto',
    sentence: 'Form of the log: a JSON object for each line, or text for people; auto is text on a terminal only.',
  },
  {
    name: 'log.requests',
    kind: 'choice',
    choices: ['all', 'errors', 'none'],
    default: 'all',
    sentence: 'Which requests get a log line: all, those answered with an error, or none.',
  },
] as const satisfies readonly ConfigRow[]

export const ENVIRONMENT_PREFIX = 'OBJECT_STORE_'

/** Known environment variables that are not settings of the server. */
export const reservedEnvironmentNames: Readonly<Record<string, string>> = Object.freeze({
  OBJECT_STORE_CONFIG: 'Path of the TOML file to read; --config overrides it.',
  OBJECT_STORE_URL: 'For client commands: the address of the management listener to talk to.',
  OBJECT_STORE_TOKEN: 'For client commands: the management token to send.',
  OBJECT_STORE_TOKEN_FILE: 'For client commands: a file with that token.',
  OBJECT_STORE_PROFILE: 'For client commands: the profile with address and token.',
})

/** The environment variable of a setting: `s3.bind` is OBJECT_STORE_S3_BIND. */
export function environmentName(name: string): string {
  return ENVIRONMENT_PREFIX + name.replaceAll('.', '_').toUpperCase()
}
