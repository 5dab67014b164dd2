import { type CommandRow, optional, text } from './command-rows.ts'
import { pathOf } from './management-client.ts'
import { done, fields, page } from './tables.ts'

const BUCKET = { name: 'bucket' } as const
const KEY = { name: 'key' } as const
const VERSION = { name: 'version-id', description: 'a certain version' } as const
const LIMIT = { name: 'limit', description: 'entries of a page, 1 to 1000' } as const
const PAGE = [
  { name: 'prefix', description: 'only keys that begin like this' },
  { name: 'delimiter', description: 'roll up keys behind this text' },
  LIMIT,
  { name: 'after', description: 'go on behind this key' },
] as const

/** Objects, versions and their verification. */
export const OBJECTS_COMMANDS: readonly CommandRow[] = [
  {
    path: 'object list',
    description: 'list the objects of a bucket',
    arguments: [BUCKET],
    options: PAGE,
    request: (values) => ({
      method: 'GET',
      path: pathOf('buckets', text(values, 'bucket'), 'objects'),
      query: {
        prefix: optional(values, 'prefix'),
        delimiter: optional(values, 'delimiter'),
        limit: optional(values, 'limit'),
        after: optional(values, 'after'),
      },
    }),
    show: page('objects', ['key', 'size', 'created_at', 'etag']),
  },
  {
    path: 'object versions',
    description: 'list the versions and delete markers of a bucket',
    arguments: [BUCKET],
    options: [...PAGE, { name: 'after-version-id', description: 'go on behind this version of --after' }],
    request: (values) => ({
      method: 'GET',
      path: pathOf('buckets', text(values, 'bucket'), 'object-versions'),
      query: {
        prefix: optional(values, 'prefix'),
        delimiter: optional(values, 'delimiter'),
        limit: optional(values, 'limit'),
        after: optional(values, 'after'),
        after_version_id: optional(values, 'after-version-id'),
      },
    }),
    show: page('versions', ['key', 'version_id', 'is_latest', 'delete_marker', 'size', 'created_at']),
  },
  {
    path: 'object show',
    description: 'show what is known of an object',
    arguments: [BUCKET, KEY],
    options: [VERSION],
    request: (values) => ({
      method: 'GET',
      path: pathOf('buckets', text(values, 'bucket'), 'object', text(values, 'key')),
      query: { version_id: optional(values, 'version-id') },
    }),
    show: fields,
  },
  {
    path: 'object delete',
    description: 'delete an object, or one version for ever',
    arguments: [BUCKET, KEY],
    options: [VERSION],
    request: (values) => {
      const version = optional(values, 'version-id')
      const collection = version === undefined ? 'object' : 'object-versions'
      const path = pathOf('buckets', text(values, 'bucket'), collection, text(values, 'key'))
      return { method: 'DELETE', path, query: { version_id: version } }
    },
    show: done('deleted'),
  },
  {
    path: 'object copy',
    description: 'copy an object',
    arguments: [{ name: 'source-bucket' }, { name: 'source-key' }, BUCKET, KEY],
    options: [VERSION],
    request: (values) => ({
      method: 'POST',
      path: pathOf('buckets', text(values, 'bucket'), 'object-copy', text(values, 'key')),
      json: {
        source_bucket: text(values, 'source-bucket'),
        source_key: text(values, 'source-key'),
        source_version_id: optional(values, 'version-id'),
      },
    }),
    show: fields,
  },
  {
    path: 'object restore',
    description: 'make an earlier version the current one',
    arguments: [BUCKET, KEY, { name: 'version-id' }],
    request: (values) => ({
      method: 'POST',
      path: pathOf('restore', text(values, 'bucket'), text(values, 'key')),
      json: { version_id: text(values, 'version-id') },
    }),
    show: fields,
  },
  {
    path: 'verify object',
    description: 'read an object and hold it against its digest',
    arguments: [BUCKET, KEY],
    options: [VERSION],
    request: (values) => ({
      method: 'POST',
      path: pathOf('verify', 'objects', text(values, 'bucket'), text(values, 'key')),
      query: { version_id: optional(values, 'version-id') },
    }),
    exit: ({ status }: { readonly status: string }) => (status === 'damaged' ? 'storeDamaged' : 'ok'),
    show: fields,
  },
  {
    path: 'verify bucket',
    description: 'read the objects of a bucket and hold them against their digests',
    arguments: [BUCKET],
    options: [
      { name: 'maximum-entries', description: 'objects to read at most' },
      { name: 'after', description: 'go on behind this key' },
    ],
    request: (values) => ({
      method: 'POST',
      path: pathOf('verify', 'buckets', text(values, 'bucket')),
      query: { maximum_entries: optional(values, 'maximum-entries'), after: optional(values, 'after') },
    }),
    exit: ({ damaged }: { readonly damaged: number }) => (damaged > 0 ? 'storeDamaged' : 'ok'),
    show: fields,
  },
]
