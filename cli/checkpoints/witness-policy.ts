import { readFileSync } from 'node:fs'
import {
  type PolicyWitness,
  readWitnessPolicy,
  WitnessPolicyError,
  type WitnessPolicy,
} from '../../engine/checkpoints/witness-policy.ts'
import { isPrivateUrl } from './lock-setting.ts'
import type { Config } from '../config/config-types.ts'
import { ExitError } from '../exit-codes.ts'

/**
 * The policy of the witnesses; undefined where they are off.
 * @throws ExitError `usage` when the file cannot be read or is not a policy with witnesses that can be asked
 */
export function witnessPolicyOf(config: Config): WitnessPolicy | undefined {
  const file = config['checkpoints.witness_policy_file']
  if (config['checkpoints.witnesses'] === 'off' || file === undefined) return undefined
  try {
    const policy = readWitnessPolicy(readFileSync(file))
    if (policy.witnesses.length === 0) throw new WitnessPolicyError('the policy has no witness to ask')
    for (const witness of policy.witnesses) requireAddress(witness)
    return policy
  } catch (error) {
    if (!(error instanceof WitnessPolicyError || (error instanceof Error && 'code' in error))) throw error
    throw new ExitError('usage', `checkpoints.witness_policy_file: ${file}: ${error.message}`, { cause: error })
  }
}

function requireAddress({ name, url }: PolicyWitness): void {
  if (url === undefined) throw new WitnessPolicyError(`the witness ${name} has no address to ask it at`)
  if (isPrivateUrl(url)) return
  throw new WitnessPolicyError(
    `the address of the witness ${name} must be https, or http to an address of this machine`,
  )
}
