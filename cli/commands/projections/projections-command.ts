import { Option } from 'clipanion'
import { nodeDisk } from '../../../engine/disk/node-disk.ts'
import type { StorePaths } from '../../../engine/disk/store-paths.ts'
import type { AccessKeys } from '../../../projections/replay/rebuild.ts'
import { keysOf } from '../../access/access-keys.ts'
import { StoppedStoreCommand } from '../config/stopped-store-command.ts'

/** A command on the projections of a store that no server has open. */
export abstract class ProjectionsCommand extends StoppedStoreCommand {
  json = Option.Boolean('--json', false, { description: 'print one JSON object' })

  /**
   * The keys of the store in `paths`.
   * @throws ExitError without the master key
   */
  protected accessKeys(paths: StorePaths): AccessKeys {
    return keysOf(nodeDisk, paths, this.masterKey())
  }

  protected print(report: object, sentence: string): void {
    this.context.stdout.write(this.json ? `${JSON.stringify(report)}\n` : `${sentence}\n`)
  }
}

/** Seconds since `started`, to the millisecond. */
export function secondsSince(started: number): number {
  return Math.round(performance.now() - started) / 1000
}
