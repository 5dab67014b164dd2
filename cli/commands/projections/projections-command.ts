import { Option } from 'clipanion'
import { nodeDisk } from '../../../engine/disk/node-disk.ts'
import { lockStore } from '../../../engine/disk/store-lock.ts'
import { StorePaths } from '../../../engine/disk/store-paths.ts'
import type { AccessKeys } from '../../../projections/replay/rebuild.ts'
import { decodeMasterKey } from '../../config/master-key.ts'
import { MASTER_KEY_MISSING } from '../../config/server-credentials.ts'
import { keysOf } from '../../server/store/access-keys.ts'
import { ConfigCommand } from '../config/config-command.ts'
import { exitOfError } from '../../server/engine-exit.ts'
import { ExitError } from '../../exit-codes.ts'

/** A command on the projections of a store that no server has open. */
export abstract class ProjectionsCommand extends ConfigCommand {
  json = Option.Boolean('--json', false, { description: 'print one JSON object' })

  /**
   * Runs `work` while it holds the lock of the store.
   * @throws ExitError with the exit code of the cause
   */
  protected async withStore<T>(work: (paths: StorePaths) => Promise<T>): Promise<T> {
    const { config } = this.readConfig()
    const paths = new StorePaths(config.data_dir)
    if (!nodeDisk.exists(paths.journal)) throw new ExitError('notFound', `there is no journal in ${config.data_dir}`)
    try {
      const lock = await lockStore(nodeDisk, paths.root)
      try {
        return await work(paths)
      } finally {
        await lock.release()
      }
    } catch (error) {
      const { name, message } = error as Error
      throw new ExitError(exitOfError(name), message, { cause: error })
    }
  }

  /**
   * The keys of the store in `paths`.
   * @throws ExitError without the master key
   */
  protected accessKeys(paths: StorePaths): AccessKeys {
    const masterKey = decodeMasterKey(this.readConfig().config['credential_master_key']?.reveal() ?? '')
    if (masterKey === undefined) throw new ExitError('masterKey', MASTER_KEY_MISSING)
    return keysOf(nodeDisk, paths, masterKey)
  }

  protected print(report: object, sentence: string): void {
    this.context.stdout.write(this.json ? `${JSON.stringify(report)}\n` : `${sentence}\n`)
  }
}

/** Seconds since `started`, to the millisecond. */
export function secondsSince(started: number): number {
  return Math.round(performance.now() - started) / 1000
}
