import { Command } from 'clipanion'
import { nodeDisk } from '../../../engine/disk/node-disk.ts'
import { checkProjections } from '../../../projections/replay/check.ts'
import { exitTable } from '../../exit-codes.ts'
import { ProjectionsCommand, secondsSince } from './projections-command.ts'

export class ProjectionsCheckCommand extends ProjectionsCommand {
  static override paths = [['projections', 'check']]

  static override usage = Command.Usage({
    category: 'Store',
    description: 'compare the projections with the journal, row by row',
    details:
      'The server must not be running. Builds the projections from the journal in a temporary place and compares them ' +
      'with the stored ones; changes nothing. Ends with 25 if a row differs.',
    examples: [['Check them', 'object-store projections check --data-dir ./data']],
  })

  override async execute(): Promise<number> {
    const started = performance.now()
    const report = await this.withStore((paths) => checkProjections(nodeDisk, paths))
    const seconds = secondsSince(started)
    const { rows, differenceCount, differences } = report
    const lines = differences.map(
      (row) => `  ${row.table} ${row.key}: ${row.stored ?? '-'} is not ${row.expected ?? '-'}`,
    )
    const verdict = differenceCount === 0 ? 'all equal to the journal' : `${differenceCount} differ`
    this.print({ ...report, seconds }, [`${rows} rows compared in ${seconds} s: ${verdict}`, ...lines].join('\n'))
    return differenceCount === 0 ? exitTable.ok.code : exitTable.projectionsFailed.code
  }
}
