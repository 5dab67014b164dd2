import { Command } from 'clipanion'
import type { CliContext } from '../cli-context.ts'
import { overviewHelp } from '../terminal/help-text.ts'
import { packageVersion } from '../version.ts'

/** Every command, and the exit codes they share. Help on one command is `<command> --help`. */
export class HelpCommand extends Command<CliContext> {
  static override paths = [['help'], ['--help'], ['-h']]

  override async execute(): Promise<number> {
    this.context.stdout.write(overviewHelp(this.cli.definitions(), packageVersion(), this.cli.format()))
    return 0
  }
}
