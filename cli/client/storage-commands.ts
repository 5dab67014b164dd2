import { type CommandRow, flag, integer, optional } from './command-rows.ts'
import { fields, list } from './tables.ts'

/** The system, its storage and its reports. */
export const STORAGE_COMMANDS: readonly CommandRow[] = [
  {
    path: 'system info',
    description: 'show version and capabilities of the server',
    request: () => ({ method: 'GET', path: '/system/info' }),
    show: fields,
  },
  {
    path: 'storage status',
    description: 'show capacity and free space',
    request: () => ({ method: 'GET', path: '/storage/status' }),
    show: fields,
  },
  {
    path: 'storage usage',
    description: 'show how many objects and versions there are, and their bytes',
    request: () => ({ method: 'GET', path: '/storage/usage' }),
    show: fields,
  },
  {
    path: 'storage inspect',
    description: 'look for files and rows that do not belong together',
    options: [{ name: 'maximum-entries', description: 'rows and files to look at (100000)' }],
    request: (values) => ({
      method: 'GET',
      path: '/storage/inspect',
      query: { maximum_entries: optional(values, 'maximum-entries') ?? '100000' },
    }),
    exit: ({ missing }: { readonly missing: readonly unknown[] }) => (missing.length > 0 ? 'storeDamaged' : 'ok'),
    show: fields,
  },
  {
    path: 'storage repair',
    description: 'say what a repair would remove, or remove it with --apply',
    options: [
      { name: 'apply', description: 'remove what belongs to nothing', flag: true },
      { name: 'maximum-entries', description: 'rows and files to look at (100000)' },
    ],
    request: (values) => ({
      method: 'POST',
      path: '/storage/repair',
      json: { dry_run: !flag(values, 'apply'), maximum_entries: integer(values, 'maximum-entries') ?? 100_000 },
    }),
    show: fields,
  },
  {
    path: 'report retention',
    description: 'show which versions are held, and until when',
    options: [
      { name: 'bucket', description: 'of one bucket alone' },
      { name: 'limit', description: 'lock records to look at' },
    ],
    request: (values) => ({
      method: 'GET',
      path: '/reports/retention',
      query: { bucket: optional(values, 'bucket'), limit: optional(values, 'limit') },
    }),
    show: list('versions', ['bucket', 'key', 'version_id', 'retention_mode', 'retain_until', 'legal_hold', 'status']),
  },
]
