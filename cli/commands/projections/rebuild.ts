import { Command } from 'clipanion'
import { nodeDisk } from '../../../engine/disk/node-disk.ts'
import { rebuildProjections } from '../../../projections/replay/rebuild.ts'
import { exitTable } from '../../exit-codes.ts'
import { ProjectionsCommand, secondsSince } from './projections-command.ts'

export class ProjectionsRebuildCommand extends ProjectionsCommand {
  static override paths = [['projections', 'rebuild']]

  static override usage = Command.Usage({
    category: 'Store',
    description: 'rebuild the projections from the journal',
    details:
      'The server must not be running. Reads only the journal, and verifies every record of it. Needs the credential master ' +
      'key: without it changes of accounts and policies cannot be authenticated.',
    examples: [['Rebuild them', 'object-store projections rebuild --data-dir ./data']],
  })

  override async execute(): Promise<number> {
    const started = performance.now()
    const records = await this.withStore((paths) =>
      rebuildProjections(nodeDisk, paths, undefined, this.accessKeys(paths)),
    )
    const seconds = secondsSince(started)
    this.print({ records, seconds }, `${records} records replayed in ${seconds} s`)
    return exitTable.ok.code
  }
}
