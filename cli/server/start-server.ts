import { nodeDisk } from '../../engine/disk/node-disk.ts'
import { readOnlyOf } from '../../engine/disk/read-only.ts'
import { lockStore } from '../../engine/disk/store-lock.ts'
import { requireKnownFormat } from '../../engine/journal/known-format.ts'
import { StorePaths } from '../../engine/disk/store-paths.ts'
import { chosenDriver } from './chosen-driver.ts'
import { serverCredentials } from '../config/server-credentials.ts'
import { ExitError } from '../exit-codes.ts'
import { ListenerTls } from './tls/listener-tls.ts'
import { buildCommit, packageVersion } from '../version.ts'
import type { RunningServer, StartServer } from './running-server.ts'
import { isOnOneFileSystem } from './store/payload-places.ts'
import { targetCertificates } from '../webhooks/start.ts'
import { witnessPolicyOf } from '../checkpoints/witness-policy.ts'
import { dropReplaced } from '../../projections/next-projections.ts'
import { withExitCode } from './engine-exit.ts'
import { Server } from './server.ts'
import { type LockedParts, openParts } from './server-parts.ts'

/** The composition root: puts the whole server together. */
export const startServer: StartServer = async (config, { log, requests }, signal) => {
  const credentials = serverCredentials(config)
  const tls = new ListenerTls(config)
  targetCertificates(config)
  witnessPolicyOf(config)
  const driver = await chosenDriver(config, log)
  const program = { version: packageVersion(), commit: buildCommit() ?? 'built without git' }
  log.info({ ...program, node: process.version, httpDriver: driver, dataDirectory: config.data_dir }, 'starting')
  const paths = new StorePaths(config.data_dir)
  await withExitCode(async () => requireKnownFormat(nodeDisk, paths.journal))
  makeRoot(paths)
  const lock = await withExitCode(() => lockStore(nodeDisk, paths.root))
  try {
    await withExitCode(async () => isOnOneFileSystem(paths))
    return await startLocked({ config, driver, tls, log, requestLines: requests, credentials, paths, lock }, signal)
  } catch (error) {
    await lock.release()
    throw error
  }
}

/** @throws ExitError on a read-only file system; other errors of the system */
function makeRoot({ root }: StorePaths): void {
  try {
    nodeDisk.makeDirectory(root)
  } catch (error) {
    const readOnly = readOnlyOf(error)
    throw readOnly === undefined ? error : new ExitError('journalFailed', readOnly.message, { cause: error })
  }
}

async function startLocked(locked: LockedParts, signal: AbortSignal | undefined): Promise<RunningServer> {
  const { parts, frontEnds } = await openParts(locked, signal, (message) => server.fail('failed', message))
  const server = new Server(parts)
  try {
    await server.start(frontEnds.settings, frontEnds.count)
  } catch (error) {
    await server.stop()
    // An error of the start after a part has failed may only be a consequence.
    throw server.failure ?? new ExitError('failed', (error as Error).message, { cause: error })
  }
  dropReplaced(nodeDisk, locked.paths).catch((error: unknown) => {
    locked.log.warn(
      { err: error, directory: locked.paths.projectionsReplaced },
      'replaced projections were not removed',
    )
  })
  return server
}
