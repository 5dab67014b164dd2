import { ExitError } from '../exit-codes.ts'
import { environmentName } from './config-table.ts'
import type { Config } from './config-types.ts'
import { decodeMasterKey } from './master-key.ts'
import type { Secret } from './secret.ts'
import { existingSecretsPath } from './secrets-file.ts'

/** What to do without a master key; the hint is for those who began with quickstart. */
export const MASTER_KEY_MISSING =
  'the credential master key is not set (OBJECT_STORE_CREDENTIAL_MASTER_KEY, its _FILE, or credential_master_key in the TOML file). ' +
  'A store of quickstart has it in its secrets.env: set -a; . FILE; set +a'

/** The secrets that a server needs to start. There are no defaults. */
export interface ServerCredentials {
  /** 32 bytes. */
  readonly masterKey: Buffer
  /** The one that a store may still have, which then gets `masterKey` in its place. */
  readonly previousMasterKey: Buffer | undefined
  readonly rootAccessKey: string
  readonly rootSecretKey: Secret
}

function missing(name: string): string {
  return `  ${name} is not set (${environmentName(name)}, its _FILE, or in the TOML file)`
}

/** Where the secrets of a store are: the file of its quick start where there is one. */
export function keyAdvice(config: Pick<Config, 'data_dir' | 'secrets_file'>): string {
  const path = existingSecretsPath(config)
  const variable = environmentName('credential_master_key')
  if (path === undefined) return `give the key of the store as ${variable}`
  return `${path} holds the secrets of a quick start: "object-store quickstart" uses them, or load them: set -a; . ${path}`
}

/** The configured master keys: 32 bytes each, of this store or another. */
export function masterKeysOf(config: Config) {
  return {
    masterKey: decodeMasterKey(config['credential_master_key']?.reveal() ?? ''),
    previousMasterKey: decodeMasterKey(config['previous_credential_master_key']?.reveal() ?? ''),
  }
}

/**
 * The credentials in the configuration.
 * @throws ExitError `masterKey` without a master key, `usage` without a root credential; names everything that is missing
 */
export function serverCredentials(config: Config): ServerCredentials {
  const { masterKey, previousMasterKey } = masterKeysOf(config)
  const rootAccessKey = config['root.access_key']
  const rootSecretKey = config['root.secret_key']
  if (masterKey !== undefined && rootAccessKey !== undefined && rootSecretKey !== undefined) {
    return { masterKey, previousMasterKey, rootAccessKey, rootSecretKey }
  }
  const absent = [
    ...(masterKey === undefined ? [missing('credential_master_key')] : []),
    ...(rootAccessKey === undefined ? [missing('root.access_key')] : []),
    ...(rootSecretKey === undefined ? [missing('root.secret_key')] : []),
  ]
  const advice = 'There are no default secrets. "object-store quickstart" creates them for a new data directory.'
  const where = existingSecretsPath(config) === undefined ? [] : [keyAdvice(config)]
  const message = ['the server cannot start without its secrets:', ...absent, advice, ...where].join('\n')
  throw new ExitError(masterKey === undefined ? 'masterKey' : 'usage', message)
}
