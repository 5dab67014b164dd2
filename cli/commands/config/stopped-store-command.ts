import { nodeDisk } from '../../../engine/disk/node-disk.ts'
import { lockStore } from '../../../engine/disk/store-lock.ts'
import { StorePaths } from '../../../engine/disk/store-paths.ts'
import { requireKnownFormat } from '../../../engine/journal/known-format.ts'
import { decodeMasterKey } from '../../config/master-key.ts'
import { MASTER_KEY_MISSING } from '../../config/server-credentials.ts'
import { ExitError } from '../../exit-codes.ts'
import { exitOfError } from '../../server/engine-exit.ts'
import { ConfigCommand } from './config-command.ts'

/** A command on the files of a store that no server has open. */
export abstract class StoppedStoreCommand extends ConfigCommand {
  /**
   * Runs `work` while it holds the lock of the store.
   * @throws ExitError with the exit code of the cause
   */
  protected async withStore<T>(work: (paths: StorePaths) => Promise<T>): Promise<T> {
    const { config } = this.readConfig()
    const paths = new StorePaths(config.data_dir)
    if (!nodeDisk.exists(paths.journal)) throw new ExitError('notFound', `there is no journal in ${config.data_dir}`)
    try {
      requireKnownFormat(nodeDisk, paths.journal)
      const lock = await lockStore(nodeDisk, paths.root)
      try {
        return await work(paths)
      } finally {
        await lock.release()
      }
    } catch (error) {
      if (error instanceof ExitError) throw error
      const { name, message } = error as Error
      throw new ExitError(exitOfError(name), message, { cause: error })
    }
  }

  /**
   * The configured master key: 32 bytes, of this store or another.
   * @throws ExitError without one
   */
  protected masterKey(): Buffer {
    const masterKey = decodeMasterKey(this.readConfig().config['credential_master_key']?.reveal() ?? '')
    if (masterKey === undefined) throw new ExitError('masterKey', MASTER_KEY_MISSING)
    return masterKey
  }
}
