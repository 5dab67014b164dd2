import { formatAddress } from './address.ts'
import type { Address, Config, ConfigName } from './config-types.ts'
import { isPrivateUrl, lockProblem } from '../checkpoints/lock-setting.ts'
import { decodeMasterKey } from './master-key.ts'

/** A rule over several settings. */
interface ConfigRelation {
  readonly settings: readonly ConfigName[]
  /** The fault, or undefined. Called only if each setting is valid by itself. */
  problem(config: Config): string | undefined
}

const BYTES_PER_MIB = 1_048_576
const VOLUME_SHARE = 4

function sameAddress(left: Address, right: Address): string | undefined {
  // Two listeners on "any free port" get different ones.
  const same = left.port !== 0 && formatAddress(left) === formatAddress(right)
  return same ? `both are ${formatAddress(left)}; every listener needs an address of its own` : undefined
}

/** A certificate needs its key; one of them alone is a mistake that would leave the listener without TLS. */
function bothOrNeither(certificate: ConfigName, key: ConfigName): ConfigRelation {
  return {
    settings: [certificate, key],
    problem(config) {
      const missing = [certificate, key].filter((name) => config[name] === undefined)
      return missing.length === 1 ? `TLS needs both, and ${missing[0]} is not set` : undefined
    },
  }
}

export const configRelations: readonly ConfigRelation[] = [
  {
    settings: ['s3.bind', 'api.bind'],
    problem: (config) => sameAddress(config['s3.bind'], config['api.bind']),
  },
  {
    settings: ['s3.bind', 'console.bind'],
    problem: (config) => sameAddress(config['s3.bind'], config['console.bind']),
  },
  {
    settings: ['api.bind', 'console.bind'],
    problem: (config) => sameAddress(config['api.bind'], config['console.bind']),
  },
  {
    settings: ['credential_master_key', 'previous_credential_master_key'],
    problem(config) {
      const previous = decodeMasterKey(config['previous_credential_master_key']?.reveal() ?? '')
      if (previous === undefined) return undefined
      const key = decodeMasterKey(config['credential_master_key']?.reveal() ?? '')
      if (key === undefined) return 'the new key is missing'
      return key.equals(previous) ? 'both are the same key; a change of the key needs a new one' : undefined
    },
  },
  {
    settings: ['checkpoints.timestamps', 'checkpoints.timestamp_url'],
    problem(config) {
      const url = config['checkpoints.timestamp_url']
      if (config['checkpoints.timestamps'] === 'off') return undefined
      if (url === undefined) return 'the address of the authority is missing'
      return isPrivateUrl(url) ? undefined : 'the address must be https, or http to an address of this machine'
    },
  },
  {
    settings: ['checkpoints.witnesses', 'checkpoints.witness_policy_file'],
    problem(config) {
      const isMissing = config['checkpoints.witness_policy_file'] === undefined
      return config['checkpoints.witnesses'] !== 'off' && isMissing
        ? 'the policy of the witnesses is missing'
        : undefined
    },
  },
  {
    settings: [
      'data_dir',
      'checkpoints.lock',
      'checkpoints.lock_endpoint',
      'checkpoints.lock_access_key',
      'checkpoints.lock_secret_key',
    ],
    problem: lockProblem,
  },
  bothOrNeither('s3.tls_certificate_file', 's3.tls_key_file'),
  bothOrNeither('api.tls_certificate_file', 'api.tls_key_file'),
  bothOrNeither('console.tls_certificate_file', 'console.tls_key_file'),
  {
    // A volume has room for several objects, or packing them gains nothing.
    settings: ['storage.inline_limit_bytes', 'storage.volume_mib'],
    problem(config) {
      const bytesMaximum = (config['storage.volume_mib'] * BYTES_PER_MIB) / VOLUME_SHARE
      if (config['storage.inline_limit_bytes'] <= bytesMaximum) return undefined
      return `the inline limit must be at most a quarter of a volume, ${bytesMaximum} bytes`
    },
  },
]
