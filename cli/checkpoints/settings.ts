/** Signed checkpoints of the journal. */
import type { ConfigRow } from '../config/config-row.ts'

export const checkpointsSettings = [
  {
    name: 'checkpoints.interval_seconds',
    kind: 'integer',
    unit: 'seconds',
    bounds: { minimum: 0, maximum: 86_400 },
    default: 0,
    sentence:
      'Time between two signed checkpoints of the journal while new records arrive; 0: no checkpoints and no trees.',
  },
  {
    name: 'checkpoints.heartbeat_seconds',
    kind: 'integer',
    unit: 'seconds',
    bounds: { minimum: 1, maximum: 86_400 },
    default: 3600,
    sentence:
      'After this time a checkpoint is signed even without new records, so that a quiet log can be told from a stopped one.',
  },
  {
    name: 'checkpoints.origin',
    kind: 'text',
    bounds: { minimum: 1, maximum: 128 },
    form: 'log-name',
    default: 'object-store',
    sentence:
      'First part of the name of the checkpoint log, for example the host name of the store; the deployment id is appended. Changing it starts a new log.',
  },
  {
    name: 'checkpoints.timestamps',
    kind: 'choice',
    choices: ['off', 'best-effort', 'required'],
    default: 'off',
    sentence:
      'Whether an authority puts a time stamp (RFC 3161) on each checkpoint; required: no checkpoint is shown without one, and none is signed after it.',
  },
  {
    name: 'checkpoints.timestamp_url',
    kind: 'text',
    bounds: { minimum: 1, maximum: 512 },
    form: 'base-url',
    sentence: 'Address of that authority: https, or http for an address of this machine.',
  },
  {
    name: 'checkpoints.timestamp_timeout_seconds',
    kind: 'integer',
    unit: 'seconds',
    bounds: { minimum: 1, maximum: 60 },
    default: 10,
    sentence: 'Maximum time for one request to that authority.',
  },
  {
    name: 'checkpoints.lock',
    kind: 'text',
    bounds: { minimum: 1, maximum: 512 },
    sentence:
      'Where each checkpoint is written before it is published, so that a data directory that was rolled back is noticed: s3://BUCKET/PREFIX on another store, or file:///DIRECTORY on another disk.',
  },
  {
    name: 'checkpoints.lock_endpoint',
    kind: 'text',
    bounds: { minimum: 1, maximum: 512 },
    form: 'base-url',
    sentence: 'Address of the store of the lock, without a path: https, or http for an address of this machine.',
  },
  {
    name: 'checkpoints.lock_region',
    kind: 'text',
    bounds: { minimum: 1, maximum: 64 },
    form: 'access-key',
    default: 'us-east-1',
    sentence: 'Region that requests to the lock are signed for.',
  },
  {
    name: 'checkpoints.lock_access_key',
    kind: 'text',
    bounds: { minimum: 3, maximum: 128 },
    form: 'access-key',
    sentence:
      'Access key for the lock: one that may get and put objects under its prefix and list its bucket (without that, AWS answers 403 for what is not there), and nothing else.',
  },
  {
    name: 'checkpoints.lock_secret_key',
    kind: 'secret',
    bounds: { minimum: 8, maximum: 256 },
    sentence: 'Secret key for the lock.',
  },
  {
    name: 'checkpoints.witnesses',
    kind: 'choice',
    choices: ['off', 'best-effort', 'required'],
    default: 'off',
    sentence:
      'Whether the witnesses of the policy cosign each checkpoint (C2SP tlog-witness); required: no checkpoint is shown before a quorum has cosigned it, and none is signed after it.',
  },
  {
    name: 'checkpoints.witness_policy_file',
    kind: 'path',
    sentence: 'File with the keys and addresses of the witnesses and the quorum (C2SP tlog-policy). Read at the start.',
  },
  {
    name: 'checkpoints.witness_timeout_seconds',
    kind: 'integer',
    unit: 'seconds',
    bounds: { minimum: 1, maximum: 60 },
    default: 10,
    sentence: 'Maximum time for one request to a witness.',
  },
  {
    name: 'checkpoints.witness_for',
    kind: 'log keys',
    bounds: { minimum: 0, maximum: 64 },
    default: [],
    sentence:
      'Keys (NAME+ID+KEY, as `checkpoint key` prints them) of the logs whose checkpoints this store cosigns as a witness; no token is needed for that.',
  },
] as const satisfies readonly ConfigRow[]
