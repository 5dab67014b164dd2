/** A store that a filler of the bench has open in its own thread. */
import { loadConfig } from '../cli/config/load-config.ts'
import { openStore } from '../cli/server/store/open-store.ts'
import type { OpenStore } from '../cli/server/store/opened-store.ts'
import { storeOptions } from '../cli/server/store/store-options.ts'
import type { Clock } from '../engine/clock.ts'
import type { Disk } from '../engine/disk/disk.ts'
import { nodeDisk } from '../engine/disk/node-disk.ts'
import { lockStore } from '../engine/disk/store-lock.ts'
import { StorePaths } from '../engine/disk/store-paths.ts'

/** The store to fill, and how it differs from a server's store. */
interface FilledDirectory {
  readonly dataDirectory: string
  /** In hexadecimal. */
  readonly masterKey: string
  /** `name=value` as on the command line. */
  readonly settings?: readonly string[]
  readonly disk?: Disk
  readonly clock?: Clock
}

/** Takes the lock and opens the store; `done` closes it. */
export async function openToFill(
  filled: FilledDirectory,
): Promise<{ readonly store: OpenStore; readonly paths: StorePaths; done(): Promise<void> }> {
  const { dataDirectory, masterKey, settings = [], disk = nodeDisk, clock } = filled
  const paths = new StorePaths(dataDirectory)
  nodeDisk.makeDirectory(paths.root)
  const lock = await lockStore(nodeDisk, paths.root)
  const flags = Object.fromEntries(settings.map((setting) => setting.split('=', 2)))
  const { config } = loadConfig({ flags, environment: {}, workingDirectory: paths.root })
  const options = {
    ...storeOptions(config, { masterKey: Buffer.from(masterKey, 'hex'), previousMasterKey: undefined }),
    lockPath: lock.path,
  }
  const store = await openStore(disk, paths, options, {
    onFailure: (error) => {
      throw error
    },
    onBatchDone: () => {},
    ...(clock && { clock }),
  })
  const done = async (): Promise<void> => {
    await store.close(true)
    await lock.release()
  }
  return { store, paths, done }
}
