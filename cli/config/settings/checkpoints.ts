/** Signed checkpoints of the journal. */
import type { ConfigRow } from '../config-row.ts'

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
] as const satisfies readonly ConfigRow[]
