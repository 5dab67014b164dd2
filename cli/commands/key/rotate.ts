import { Command } from 'clipanion'
import { nodeDisk } from '../../../engine/disk/node-disk.ts'
import type { StorePaths } from '../../../engine/disk/store-paths.ts'
import { findKeys } from '../../../engine/journal/key-file.ts'
import { masterKeyId } from '../../../engine/keys/master-key-id.ts'
import { masterKeyCheck } from '../../../engine/keys/store-keys.ts'
import { environmentName } from '../../config/config-table.ts'
import type { ResolvedConfig } from '../../config/config-types.ts'
import { createDurably } from '../../config/durable-file.ts'
import { changeSecrets, existingSecretsPath, readSecrets } from '../../config/secrets-file.ts'
import { KEPT_KEY_INFIX, keyAdvice, MASTER_KEY_MISSING, masterKeysOf } from '../../config/server-credentials.ts'
import { ExitError, exitTable } from '../../exit-codes.ts'
import { openStore } from '../../server/store/open-store.ts'
import { storeOptions } from '../../server/store/store-options.ts'
import { StoppedStoreCommand } from '../config/stopped-store-command.ts'
import { newSecret } from '../quickstart/secrets.ts'

const CURRENT = environmentName('credential_master_key')
const PREVIOUS = environmentName('previous_credential_master_key')

export class KeyRotateCommand extends StoppedStoreCommand {
  static override paths = [['key', 'rotate']]

  static override usage = Command.Usage({
    category: 'Store',
    description: 'change the master key of a stopped store',
    details: `
      With the secrets file of a quick start: makes a new key, keeps the old one in a file beside it, and puts the new one into the secrets file.
      Otherwise the new key is \`credential_master_key\` and the current one \`previous_credential_master_key\`; starting the
      server with both does the same.

      Run again after a crash, the command finishes what it started. Data sealed with the old key is not sealed again: anybody
      who has the old key and a copy of the journal can read it. spec/manual/operating.md says what to replace in that case.
    `,
    examples: [
      ['The store of a quick start', '$0 key rotate --data-dir ./data'],
      ['With keys from the environment', `${CURRENT}=NEW ${PREVIOUS}=OLD $0 key rotate`],
    ],
  })

  override async execute(): Promise<number> {
    await this.withStore(async (paths) => {
      const begun = this.readConfig()
      if (masterKeysOf(begun.config).previousMasterKey === undefined) this.#begin(paths, begun)
      await this.#finish(paths)
    })
    return exitTable.ok.code
  }

  /** Makes the new key, and puts both into the secrets file. */
  #begin(paths: StorePaths, { config, sources }: ResolvedConfig): void {
    const { masterKey } = masterKeysOf(config)
    if (masterKey === undefined) throw new ExitError('masterKey', MASTER_KEY_MISSING)
    // A wrong key is refused before anything changes.
    const { deploymentId } = findKeys(nodeDisk, paths, masterKey).ring
    const path = sources['credential_master_key'] === 'secrets file' ? existingSecretsPath(config) : undefined
    if (path === undefined) {
      const how = `set ${CURRENT} to a new key, such as that of "openssl rand -hex 32", and ${PREVIOUS} to the present one`
      throw new ExitError('usage', `the master key is not in a secrets file, which this command could change: ${how}`)
    }
    const present = masterKey.toString('hex')
    const kept = `${path}${KEPT_KEY_INFIX}${masterKeyId(masterKeyCheck(masterKey, deploymentId))}`
    createDurably(kept, `${CURRENT}=${present}\n`)
    this.#say(`The key before is kept in ${kept}: a backup from before the change opens with no other.`)
    changeSecrets(path, { [CURRENT]: newSecret('credential_master_key'), [PREVIOUS]: present })
  }

  /** Changes the key in the journal, and removes the previous key from the secrets file. */
  async #finish(paths: StorePaths): Promise<void> {
    const { config } = this.readConfig()
    const { masterKey, previousMasterKey } = masterKeysOf(config)
    if (masterKey === undefined) throw new ExitError('masterKey', MASTER_KEY_MISSING)
    const hooks = { onFailure: () => undefined, onBatchDone: () => undefined }
    const options = storeOptions(config, { masterKey, previousMasterKey })
    const store = await openStore(nodeDisk, paths, options, hooks).catch((error: Error) => {
      throw error.name === 'MasterKeyMismatchError'
        ? new ExitError('masterKey', `${error.message}; ${keyAdvice(config)}`, { cause: error })
        : error
    })
    await store.close(true)
    const path = existingSecretsPath(config)
    if (path !== undefined && PREVIOUS in readSecrets(path)) changeSecrets(path, { [PREVIOUS]: undefined })
    const id = masterKeyId(masterKeyCheck(masterKey, Buffer.from(store.deploymentId, 'hex')))
    const did = store.report.changedMasterKey === undefined ? 'has had' : 'has'
    this.#say(`The store ${did} the master key with the id ${id}; ${PREVIOUS} is no longer needed.`)
    this.#say('Proof bundles are signed with another key from now on: see "object-store proof public-key".')
  }

  #say(line: string): void {
    this.context.stdout.write(`${line}\n`)
  }
}
