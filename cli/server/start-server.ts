import { nodeDisk } from '../../engine/disk/node-disk.ts'
import { lockStore } from '../../engine/disk/store-lock.ts'
import { requireKnownFormat } from '../../engine/journal/known-format.ts'
import { StorePaths } from '../../engine/disk/store-paths.ts'
import { chosenDriver } from './chosen-driver.ts'
import { serverCredentials } from '../config/server-credentials.ts'
import { ExitError } from '../exit-codes.ts'
import { ListenerTls } from './tls/listener-tls.ts'
import type { RunningServer, StartServer } from './running-server.ts'
import { isOnOneFileSystem } from './store/payload-places.ts'
import { targetCertificates } from '../webhooks/start.ts'
import { witnessPolicyOf } from '../checkpoints/witness-policy.ts'
import { withExitCode } from './engine-exit.ts'
import { Server } from './server.ts'
import { type LockedParts, openParts } from './server-parts.ts'

/** The composition root: puts the whole server together. */
export const startServer: StartServer = async (config, { log, requests }) => {
  const credentials = serverCredentials(config)
  const tls = new ListenerTls(config)
  targetCertificates(config)
  witnessPolicyOf(config)
  const driver = await chosenDriver(config, log)
  const paths = new StorePaths(config.data_dir)
  await withExitCode(async () => requireKnownFormat(nodeDisk, paths.journal))
  nodeDisk.makeDirectory(paths.root)
  const lock = await withExitCode(() => lockStore(nodeDisk, paths.root))
  try {
    await withExitCode(async () => isOnOneFileSystem(paths))
    return await startLocked({ config, driver, tls, log, requestLines: requests, credentials, paths, lock })
  } catch (error) {
    await lock.release()
    throw error
  }
}

async function startLocked(locked: LockedParts): Promise<RunningServer> {
  const { parts, frontEnds } = await openParts(locked, (message) => server.fail('failed', message))
  const server = new Server(parts)
  try {
    await server.start(frontEnds.settings, frontEnds.count)
  } catch (error) {
    await server.stop()
    // An error of the start after a part has failed may only be a consequence.
    throw server.failure ?? new ExitError('failed', (error as Error).message, { cause: error })
  }
  return server
}
