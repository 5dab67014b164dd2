import type { StartStoppedError } from '../../engine/errors.ts'
import type { Config } from '../config/config-types.ts'
import { profileText } from '../config/s3-profiles.ts'
import { serverCredentials } from '../config/server-credentials.ts'
import { ExitError, exitTable } from '../exit-codes.ts'
import type { LogHandle } from './log/logger.ts'
import type { ProcessControl } from './process-control.ts'
import type { RunningServer, StartServer } from './running-server.ts'

interface ServerRun {
  readonly config: Config
  readonly logger: LogHandle
  readonly control: ProcessControl
  /** Defaults to the composition root. */
  readonly start?: StartServer | undefined
  /** Called when the server accepts requests, unless it was asked to stop before. */
  started?(server: RunningServer): void
}

/** Loaded on demand: other commands start faster without it. */
const startComposition: StartServer = async (config, options, signal) => {
  const { startServer } = await import('./start-server.ts')
  return startServer(config, options, signal)
}

/** Whether a start ended because it was asked to stop. The name of the error alone crosses threads. */
function isStoppedStart(error: unknown): boolean {
  const name: StartStoppedError['name'] = 'StartStoppedError'
  const cause = error instanceof ExitError ? error.cause : undefined
  return (cause as { readonly errorName?: string } | undefined)?.errorName === name
}

/**
 * Runs a server in the foreground until it ends. The first SIGTERM or SIGINT drains it, if necessary as soon as it has
 * started, and ends a start that reads the journal; the second ends the process at once. On SIGHUP it reads its certificates again.
 * @returns the exit code
 * @throws ExitError if secrets are missing or the server cannot start
 */
export async function runServer(run: ServerRun): Promise<number> {
  const { config, control, logger } = run
  serverCredentials(config)
  control.surviveClosedOutput()
  let running: RunningServer | undefined
  const stopping = new AbortController()
  let reloadAsked = false
  const stop = (server: RunningServer): void => {
    server.stop().catch((error: unknown) => {
      logger.log.fatal({ err: error }, 'the server could not be stopped cleanly')
      logger.flushNow()
      control.exitNow(exitTable.failed.code)
    })
  }
  const releaseReload = control.onReloadSignal(() => {
    if (running === undefined) reloadAsked = true
    else void running.reload()
  })
  const release = control.onStopSignal((signal) => {
    if (stopping.signal.aborted) {
      logger.log.warn({ signal }, 'stopped at once by a second signal')
      logger.flushNow()
      control.exitNow(exitTable.interrupted.code)
      return
    }
    logger.log.info({ signal }, 'stopping')
    stopping.abort()
    if (running !== undefined) stop(running)
  })
  try {
    running = await (run.start ?? startComposition)(config, logger, stopping.signal)
    const { s3Address, apiAddress, s3Url, apiUrl, consoleUrl, deploymentId } = running
    const addresses = { s3Address, apiAddress, s3Url, apiUrl, consoleUrl, deploymentId }
    logger.log.info({ ...addresses, s3Profile: profileText(config) }, 'the server accepts requests')
    if (stopping.signal.aborted) stop(running)
    else {
      run.started?.(running)
      if (reloadAsked) void running.reload()
    }
    const exitCode = await running.ended
    logger.log.info({ exitCode }, 'stopped')
    if (exitCode === exitTable.frontEndStuck.code) {
      logger.flushNow()
      await control.exitDespiteThreads(exitCode)
    }
    control.exitSoon(exitCode)
    return exitCode
  } catch (error) {
    if (stopping.signal.aborted && isStoppedStart(error)) {
      const exitCode = exitTable.ok.code
      logger.log.info({ exitCode }, 'stopped')
      control.exitSoon(exitCode)
      return exitCode
    }
    control.exitSoon(error instanceof ExitError ? error.exitCode : exitTable.failed.code)
    throw error
  } finally {
    release()
    releaseReload()
    await logger.flush()
  }
}
