import { Command } from 'clipanion'
import { nodeDisk } from '../../../engine/disk/node-disk.ts'
import type { Recounted } from '../../../projections/apply/recount.ts'
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
    const recounted: Recounted[] = []
    const records = await this.withStore((paths) =>
      rebuildProjections(nodeDisk, paths, undefined, this.accessKeys(paths), (found) => recounted.push(found)),
    )
    const seconds = secondsSince(started)
    const lines = recounted.map(({ counters }) => `counters of ${counters} were below 0 and were counted again`)
    this.print({ records, seconds, recounted }, [`${records} records replayed in ${seconds} s`, ...lines].join('\n'))
    return exitTable.ok.code
  }
}
