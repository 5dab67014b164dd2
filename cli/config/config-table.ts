/**
 * Every setting of the object store, section by section in the order of the page. The reader, the types, `config show` and
 * spec/manual/configuration.md are made from this table.
 */
import { featureSettings } from './features.ts'
import { apiSettings } from './settings/api.ts'
import { auditSettings } from './settings/audit.ts'
import { consoleSettings } from './settings/console.ts'
import { credentialsSettings } from './settings/credentials.ts'
import { dataDirectorySettings } from './settings/data-directory.ts'
import { limitsSettings } from './settings/limits.ts'
import { logSettings } from './settings/log.ts'
import { objectLockSettings } from './settings/object-lock.ts'
import { s3Settings } from './settings/s3.ts'
import { serverSettings } from './settings/server.ts'
import { snapshotsSettings } from './settings/snapshots.ts'
import { storageSettings } from './settings/storage.ts'

export const configTable = [
  ...dataDirectorySettings,
  ...s3Settings,
  ...apiSettings,
  ...consoleSettings,
  ...credentialsSettings,
  ...limitsSettings,
  ...storageSettings,
  ...auditSettings,
  ...snapshotsSettings,
  ...objectLockSettings,
  ...featureSettings,
  ...serverSettings,
  ...logSettings,
] as const

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
