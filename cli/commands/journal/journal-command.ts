import { join, resolve } from 'node:path'
import { Command, Option } from 'clipanion'
import type { CliContext } from '../../cli-context.ts'
import { loadConfig } from '../../config/load-config.ts'

/** Where a data directory keeps its journal (`spec/formats/journal.md`, section "Files"). */
const JOURNAL_FOLDER = 'journal'

/** A command that reads the journal of a data directory; a server may be running on it. */
export abstract class JournalCommand extends Command<CliContext> {
  dataDirectory = Option.String('--data-dir', { description: 'directory that holds the data' })
  configPath = Option.String('--config', { description: 'TOML file with the setting data_dir' })

  /**
   * The directory with the segments. With --data-dir no configuration is read: an auditor with a copy of a journal has
   * none.
   * @throws ConfigError
   */
  protected journalDirectory(): string {
    const { environment, workingDirectory } = this.context
    const dataDirectory =
      this.dataDirectory === undefined
        ? loadConfig({ flags: {}, configPath: this.configPath, environment, workingDirectory }).config['data_dir']
        : resolve(workingDirectory, this.dataDirectory)
    return join(dataDirectory, JOURNAL_FOLDER)
  }
}
