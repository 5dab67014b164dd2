import { Command, Option } from 'clipanion'
import { nodeDisk } from '../../engine/disk/node-disk.ts'
import type { StorePaths } from '../../engine/disk/store-paths.ts'
import { AccessReader } from '../../projections/access/reader.ts'
import { WebhookReader } from '../../projections/webhooks/reader.ts'
import { ProjectionEnvironment } from '../../projections/lmdb-environment.ts'
import { buildProjections } from '../../projections/replay/rebuild.ts'
import { exitTable } from '../exit-codes.ts'
import { keysOf } from './access-keys.ts'
import { openStore } from '../server/store/open-store.ts'
import type { StoreOptions } from '../server/store/store-options.ts'
import { storeOptions } from '../server/store/store-options.ts'
import { visibleText } from '../terminal/visible-text.ts'
import { StoppedStoreCommand } from '../commands/config/stopped-store-command.ts'

/** Vouches for the accounts, policies and tokens of a store from before they were authenticated. */
export class AccessAdoptCommand extends StoppedStoreCommand {
  static override paths = [['access', 'adopt']]

  static override usage = Command.Usage({
    category: 'Store',
    description: 'approve accounts, policies and tokens made before they were authenticated',
    details:
      'The server must not be running; the master key must be configured as for the server. Prints every account, policy ' +
      'and token in the journal. With --yes it records that they are genuine, and the server can start again. ' +
      'Anybody with write access to the journal could have added one, so look at each.',
    examples: [
      ['Show what would be adopted', 'object-store access adopt --data-dir ./data'],
      ['Adopt it', 'object-store access adopt --data-dir ./data --yes'],
    ],
  })

  yes = Option.Boolean('--yes', false, { description: 'record that all of them are genuine' })

  override async execute(): Promise<number> {
    const masterKey = this.masterKey()
    await this.withStore(async (paths) => {
      const entries = await this.#show(paths, masterKey)
      if (entries === 0) this.#say('There is nothing to adopt.')
      else if (this.yes)
        await this.#adopt(paths, storeOptions(this.readConfig().config, { masterKey, previousMasterKey: undefined }))
      else this.#say('Nothing was done; --yes adopts them.')
    })
    return exitTable.ok.code
  }

  /**
   * Builds the projections aside, so that nothing is written that a server would use.
   * @returns the number of entries that are not authenticated
   */
  async #show(paths: StorePaths, masterKey: Uint8Array): Promise<number> {
    const aside = paths.projectionsCheck
    nodeDisk.removeTree(aside)
    try {
      const keys = keysOf(nodeDisk, paths, masterKey)
      await buildProjections(nodeDisk, paths, aside, { keys })
      const environment = ProjectionEnvironment.open(aside, { readOnly: true })
      try {
        const access = new AccessReader(environment)
        const webhooks = new WebhookReader(environment)
          .webhooks()
          .map(({ webhook, target }) => `webhook ${webhook} to ${target}`)
        for (const line of [...linesOf(access), ...webhooks]) this.#say(visibleText(line))
        return access.strangers()
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
    await store.close(true)
    this.#say(`Adopted: ${store.report.adoptedEntries} entries.`)
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
