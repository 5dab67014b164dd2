import { readdirSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { ExitError } from '../exit-codes.ts'
import { environmentName } from './config-table.ts'
import type { Config } from './config-types.ts'
import { decodeMasterKey } from './master-key.ts'
import type { Secret } from './secret.ts'
import { existingSecretsPath, readSecrets } from './secrets-file.ts'

/** What to do without a master key; the hint is for users of quickstart. */
export const MASTER_KEY_MISSING =
  'the credential master key is not set (OBJECT_STORE_CREDENTIAL_MASTER_KEY, its _FILE, or credential_master_key in the TOML file). ' +
  'A store of quickstart has it in its secrets.env: set -a; . FILE; set +a'

/** Between the path of a secrets file and the id of an earlier master key, in the name of the file that keeps it. */
export const KEPT_KEY_INFIX = '.key-'

/** The secrets that a server needs to start, without defaults. */
export interface ServerCredentials {
  /** 32 bytes. */
  readonly masterKey: Buffer
  /** The key that a store may still have; `masterKey` replaces it. */
  readonly previousMasterKey: Buffer | undefined
  readonly rootAccessKey: string
  readonly rootSecretKey: Secret
}

function missing(name: string): string {
  return `  ${name} is not set (${environmentName(name)}, its _FILE, or in the TOML file)`
}

/** Paths of the earlier master keys that `key rotate` kept next to a secrets file. */
function keptKeys(path: string): readonly string[] {
  const prefix = `${basename(path)}${KEPT_KEY_INFIX}`
  const names = readdirSync(dirname(path)).filter((name) => name.startsWith(prefix))
  return names.map((name) => join(dirname(path), name))
}

/**
 * Advice on where the secrets of a store are: the file of its quick start, if it exists and is not where the key came
 * from.
 */
export function keyAdvice(config: Pick<Config, 'data_dir' | 'secrets_file' | 'credential_master_key'>): string {
  const path = existingSecretsPath(config)
  const variable = environmentName('credential_master_key')
  if (path === undefined) return `give the key of the store as ${variable}`
  const given = config['credential_master_key']?.reveal()
  if (given !== undefined && given === readSecrets(path)[variable]) {
    const kept = keptKeys(path)
    if (kept.length === 0) return `${path} has the secrets of another store; give the key of this one as ${variable}`
    const previous = environmentName('previous_credential_master_key')
    return `a backup from before a change of the key opens with the earlier one, kept in ${kept.join(' or ')}: give it as ${previous}`
  }
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
