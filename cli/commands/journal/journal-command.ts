import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { Command, Option } from 'clipanion'
import type { CliContext } from '../../cli-context.ts'
import { nodeDisk } from '../../../engine/disk/node-disk.ts'
import { requireKnownFormat } from '../../../engine/journal/known-format.ts'
import { exitOfStoreError } from '../../server/engine-exit.ts'
import { decodeMasterKey } from '../../config/master-key.ts'
import { ExitError } from '../../exit-codes.ts'
import { loadConfig } from '../../config/load-config.ts'

/** Where a data directory keeps its journal (`spec/formats/journal.md`, section "Files"). */
const JOURNAL_FOLDER = 'journal'

/** A command that reads the journal of a data directory; a server may be running on it. */
export abstract class JournalCommand extends Command<CliContext> {
  dataDirectory = Option.String('--data-dir', { description: 'directory that holds the data' })
  configPath = Option.String('--config', { description: 'TOML file with the setting data_dir' })

  /**
   * The directory with the segments, by the path of a data directory or of its journal; without a path from --data-dir
   * or the configuration.
   * @throws ExitError when --data-dir names one too, or another version of the program wrote the journal
   * @throws ConfigError
   */
  protected journalAt(path: string | undefined): string {
    const directory = this.#directoryAt(path)
    try {
      requireKnownFormat(nodeDisk, directory)
    } catch (error) {
      // Any other fault is for the command to tell.
      const exit = exitOfStoreError((error as Error).name)
      if (exit === 'newerFormat' || exit === 'storeUnreleased') throw new ExitError(exit, (error as Error).message)
    }
    return directory
  }

  #directoryAt(path: string | undefined): string {
    if (path === undefined) return this.#configured()
    if (this.dataDirectory !== undefined) throw new ExitError('usage', 'give a PATH or --data-dir, not both')
    const directory = resolve(this.context.workingDirectory, path)
    const inside = join(directory, JOURNAL_FOLDER)
    return existsSync(inside) ? inside : directory
  }

  /** The master key, when the environment has it: an auditor has none. */
  protected masterKey(): { masterKey?: Buffer } {
    const masterKey = decodeMasterKey(this.context.environment['OBJECT_STORE_CREDENTIAL_MASTER_KEY'] ?? '')
    return masterKey === undefined ? {} : { masterKey }
  }

  /** With --data-dir no configuration is read: an auditor with a copy of a journal has none. */
  #configured(): string {
    const { environment, workingDirectory } = this.context
    const dataDirectory =
      this.dataDirectory === undefined
        ? loadConfig({ flags: {}, configPath: this.configPath, environment, workingDirectory }).config['data_dir']
        : resolve(workingDirectory, this.dataDirectory)
    return join(dataDirectory, JOURNAL_FOLDER)
  }
}
