import { ACCESS_COMMANDS } from './access-commands.ts'
import { BUCKETS_COMMANDS } from './bucket-commands.ts'
import type { CommandRow } from './command-rows.ts'
import { OBJECTS_COMMANDS } from './object-commands.ts'
import { STORAGE_COMMANDS } from './storage-commands.ts'

/** Every command that is one request to the management plane. */
export const CLIENT_COMMANDS: readonly CommandRow[] = [
  ...BUCKETS_COMMANDS,
  ...OBJECTS_COMMANDS,
  ...ACCESS_COMMANDS,
  ...STORAGE_COMMANDS,
]
