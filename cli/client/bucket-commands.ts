import { type CommandRow, flag, integer, optional, text } from './command-rows.ts'
import { pathOf } from './management-client.ts'
import { done, fields, list } from './tables.ts'

const BUCKET = { name: 'bucket' } as const

/** Buckets and their quotas. */
export const BUCKETS_COMMANDS: readonly CommandRow[] = [
  {
    path: 'bucket list',
    description: 'list the buckets',
    request: () => ({ method: 'GET', path: '/buckets' }),
    show: list('buckets', ['name', 'created_at', 'versioning', 'object_lock']),
  },
  {
    path: 'bucket create',
    description: 'create a bucket',
    arguments: [BUCKET],
    options: [{ name: 'object-lock', description: 'with Object Lock, for ever', flag: true }],
    request: (values) => ({
      method: 'POST',
      path: '/buckets',
      json: { name: text(values, 'bucket'), ...(flag(values, 'object-lock') ? { object_lock: true } : {}) },
    }),
    show: fields,
  },
  {
    path: 'bucket show',
    description: 'show a bucket with its settings and usage',
    arguments: [BUCKET],
    request: (values) => ({ method: 'GET', path: pathOf('buckets', text(values, 'bucket')) }),
    show: fields,
  },
  {
    path: 'bucket delete',
    description: 'delete an empty bucket',
    arguments: [BUCKET],
    request: (values) => ({ method: 'DELETE', path: pathOf('buckets', text(values, 'bucket')) }),
    show: done('deleted'),
  },
  {
    path: 'bucket versioning',
    description: 'show the versioning of a bucket, or set it to Enabled or Suspended',
    arguments: [BUCKET, { name: 'status', optional: true }],
    request: (values) => {
      const path = pathOf('buckets', text(values, 'bucket'), 'versioning')
      const status = optional(values, 'status')
      return status === undefined ? { method: 'GET', path } : { method: 'PUT', path, json: { status } }
    },
    show: fields,
  },
  {
    path: 'quota show',
    description: 'show the quota of a bucket and what is used of it',
    arguments: [BUCKET],
    request: (values) => ({ method: 'GET', path: pathOf('buckets', text(values, 'bucket'), 'quota') }),
    show: fields,
  },
  {
    path: 'quota set',
    description: 'set the quota of a bucket; what is not given becomes unlimited',
    arguments: [BUCKET],
    options: [
      { name: 'bytes', description: 'bytes of current objects at most' },
      { name: 'objects', description: 'current objects at most' },
    ],
    request: (values) => {
      const bytes = integer(values, 'bytes')
      const objects = integer(values, 'objects')
      const quota = {
        bytes: bytes === undefined ? { mode: 'unlimited' } : { mode: 'limit', bytes },
        objects: objects === undefined ? { mode: 'unlimited' } : { mode: 'limit', objects },
      }
      return { method: 'PUT', path: pathOf('buckets', text(values, 'bucket'), 'quota'), json: { quota } }
    },
    show: fields,
  },
]
