import { Command } from 'clipanion'
import type { CliContext } from '../cli-context.ts'
import { versionText } from '../version.ts'

export class VersionCommand extends Command<CliContext> {
  static override paths = [['version'], ['--version'], ['-v']]

  override async execute(): Promise<number> {
    this.context.stdout.write(`${versionText()}\n`)
    return 0
  }
}
