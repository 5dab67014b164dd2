import { Command } from 'clipanion'
import { nodeDisk } from '../../../engine/disk/node-disk.ts'
import { StorePaths } from '../../../engine/disk/store-paths.ts'
import { requireKnownFormat } from '../../../engine/journal/known-format.ts'
import { BACKGROUND_NICE, lowerPriority } from '../../../engine/thread-priority.ts'
import { prepareProjections } from '../../../projections/prepare-projections.ts'
import { ExitError, exitTable } from '../../exit-codes.ts'
import { withExitCode } from '../../server/engine-exit.ts'
import { kernelBootId } from '../../server/store/host.ts'
import { ProgressBar } from '../../terminal/progress-bar.ts'
import { ProjectionsCommand, secondsSince } from './projections-command.ts'

const MEBIBYTE = 1024 ** 2

export class ProjectionsPrepareCommand extends ProjectionsCommand {
  static override paths = [['projections', 'prepare']]

  static override usage = Command.Usage({
    category: 'Store',
    description: 'make the projections of a new version while the old server runs',
    details: `
      For an upgrade: run it with the new program while the server of the old one runs and writes. Reads the sealed segments of the
      journal, verifies every record, and makes projections of the layout of this program in a directory of their own
      (projections-prepared/), with a lower priority. The first start of this program takes them, and reads only what the journal has
      more. Needs the credential master key, and as much room as the projections take, above storage.reserved_mib.

      Killed, it goes on where it was when it is run again. Run again later, it reads what was sealed since. It does nothing where the
      layout is that of this program already.

      Ends with 0 when they are ready, with 21 for a damaged segment, with 22 while another process prepares, and with 26 on a full disk;
      then what it has made is removed.
    `,
    examples: [['Before an upgrade', '$0 projections prepare --data-dir ./data']],
  })

  override async execute(): Promise<number> {
    const started = performance.now()
    const { config } = this.readConfig()
    const paths = new StorePaths(config.data_dir)
    if (!nodeDisk.exists(paths.journal)) throw new ExitError('notFound', `there is no journal in ${config.data_dir}`)
    // Without it the end has a name of its own.
    this.masterKey()
    const reservedBytes = config['storage.reserved_mib'] * MEBIBYTE
    const bar = new ProgressBar(this.context.stderr)
    const progress = (records: number) => bar.say(`${records.toLocaleString('en')} records read`)
    lowerPriority(BACKGROUND_NICE)
    const prepared = await withExitCode(async () => {
      requireKnownFormat(nodeDisk, paths.journal)
      const keys = this.accessKeys(paths)
      return prepareProjections(nodeDisk, paths, { bootId: kernelBootId(), keys, reservedBytes, progress })
    }).finally(() => bar.clear())
    const seconds = secondsSince(started)
    if (prepared === undefined) {
      this.print({ prepared: false, seconds }, 'nothing to prepare: the projections have the layout of this program')
      return exitTable.ok.code
    }
    const { records, through } = prepared
    const upTo = through === undefined ? 'no segment of the journal is sealed yet' : `ready up to record ${through}`
    this.print(
      { prepared: true, records, through: through ?? null, seconds },
      `${records} records replayed in ${seconds} s: ${upTo}; the first start of this program reads the rest`,
    )
    return exitTable.ok.code
  }
}
