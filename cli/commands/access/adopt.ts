import { Command, Option } from 'clipanion'
import { nodeDisk } from '../../../engine/disk/node-disk.ts'
import { lockStore } from '../../../engine/disk/store-lock.ts'
import { StorePaths } from '../../../engine/disk/store-paths.ts'
import { AccessReader } from '../../../projections/catalog/access-reader.ts'
import { ProjectionEnvironment } from '../../../projections/lmdb-environment.ts'
import { buildProjections } from '../../../projections/replay/rebuild.ts'
import { serverCredentials } from '../../config/server-credentials.ts'
import { ExitError, exitTable } from '../../exit-codes.ts'
import { exitOfError } from '../../server/engine-exit.ts'
import { keysOf } from '../../server/store/access-keys.ts'
import { openStore, type StoreOptions } from '../../server/store/open-store.ts'
import { storeOptions } from '../../server/store/store-options.ts'
import { visibleText } from '../../terminal/visible-text.ts'
import { ConfigCommand } from '../config/config-command.ts'

/** Vouches for the accounts, policies and tokens of a store from before they were authenticated. */
export class AccessAdoptCommand extends ConfigCommand {
  static override paths = [['access', 'adopt']]

  static override usage = Command.Usage({
    category: 'Store',
    description: 'vouch for accounts, policies and tokens from before they were authenticated',
    details:
      'The server must not be running; the master key must be configured as for the server. Prints every account, policy ' +
      'and token that the journal makes. With --yes it records that they are right, and the server starts again. ' +
      'Whoever could write the journal may have added one: look at each.',
    examples: [
      ['Show what would be adopted', 'object-store access adopt --data-dir ./data'],
      ['Adopt it', 'object-store access adopt --data-dir ./data --yes'],
    ],
  })

  yes = Option.Boolean('--yes', false, { description: 'record that all of it is right' })

  override async execute(): Promise<number> {
    const { config } = this.readConfig()
    const { masterKey } = serverCredentials(config)
    const paths = new StorePaths(config.data_dir)
    if (!nodeDisk.exists(paths.journal)) throw new ExitError('notFound', `there is no journal in ${config.data_dir}`)
    try {
      const lock = await lockStore(nodeDisk, paths.root)
      try {
        await this.#show(paths, masterKey)
        if (this.yes) await this.#adopt(paths, storeOptions(config, masterKey))
        else this.#say('Nothing was done; --yes adopts them.')
      } finally {
        await lock.release()
      }
    } catch (error) {
      const { name, message } = error as Error
      throw new ExitError(exitOfError(name), message, { cause: error })
    }
    return exitTable.ok.code
  }

  /** Builds the projections aside, so that nothing is written that a server would use. */
  async #show(paths: StorePaths, masterKey: Uint8Array): Promise<void> {
    const aside = paths.projectionsCheck
    nodeDisk.removeTree(aside)
    try {
      const keys = keysOf(nodeDisk, paths, masterKey)
      await buildProjections(nodeDisk, paths, aside, { keys })
      const environment = ProjectionEnvironment.open(aside, { readOnly: true })
      try {
        for (const line of linesOf(new AccessReader(environment))) this.#say(visibleText(line))
      } finally {
        await environment.close()
      }
    } finally {
      nodeDisk.removeTree(aside)
    }
  }

  async #adopt(paths: StorePaths, options: StoreOptions): Promise<void> {
    const hooks = { onFailure: () => undefined, onBatchDone: () => undefined }
    const store = await openStore(nodeDisk, paths, { ...options, adoptsAccess: true }, hooks)
    const { adoptedEntries } = store.report
    await store.close(true)
    this.#say(adoptedEntries === 0 ? 'There was nothing to adopt.' : `Adopted: ${adoptedEntries} entries.`)
  }

  #say(line: string): void {
    this.context.stdout.write(`${line}\n`)
  }
}

function linesOf(access: AccessReader): string[] {
  const accounts = access.accounts().flatMap(({ account, title, enabled, credentials, policies }) => [
    `account ${account} "${title}"${enabled ? '' : ', disabled'}; policies: ${policies.join(', ') || 'none'}`,
    ...credentials.map(({ credential, accessKey }) => {
      const isEnabled = access.credential(accessKey)?.enabled === true
      return `  credential ${credential}, access key ${accessKey}${isEnabled ? '' : ', disabled'}`
    }),
  ])
  const policies = access
    .policies()
    .flatMap(({ policy, title, statements }) => [
      `policy ${policy} "${title}"`,
      ...statements.map(
        ({ effect, actions, resources }) => `  ${effect} ${actions.join(', ')} on ${resources.join(', ')}`,
      ),
    ])
  const tokens = access.tokens().map(({ token, title, role }) => `token ${token} "${title}": ${role}`)
  return [...accounts, ...policies, ...tokens]
}
