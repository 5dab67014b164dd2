import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { type ProcessOptions, type ProcessServer, startProcess } from '../support/server-process.ts'

/** A server that takes longer than this for anything hangs: a busy machine takes many times what a quiet one does. */
const PATIENCE_MILLISECONDS = 600_000

export interface WatchedOptions extends ProcessOptions {
  /** Called when the process ended in its start; without it that is a fault. */
  readonly failed?: (error: unknown, process: ChildProcess | undefined) => void
}

/**
 * Starts a server, uses it and kills it, at the latest after a time in which nothing hangs.
 * @param wrong is called with whatever goes wrong
 */
export async function withServer(
  { failed, ...options }: WatchedOptions,
  wrong: (text: string) => void,
  use: (server: ProcessServer) => Promise<void>,
): Promise<void> {
  let watchdog: NodeJS.Timeout | undefined
  let process: ChildProcess | undefined
  let exited: Promise<unknown> | undefined
  const spawned = (child: ChildProcess): void => {
    process = child
    exited = once(child, 'exit')
    watchdog = setTimeout(() => {
      wrong(`hung for ${PATIENCE_MILLISECONDS} ms`)
      child.kill('SIGKILL')
    }, PATIENCE_MILLISECONDS)
    options.spawned?.(child)
  }
  let server: ProcessServer | undefined
  try {
    server = await startProcess({ ...options, spawned }).catch(async (error: unknown) => {
      await exited
      if (failed === undefined) throw error
      failed(error, process)
      return undefined
    })
    if (server !== undefined) await use(server)
  } catch (error) {
    wrong(`${error instanceof Error ? error.stack : String(error)}`)
  } finally {
    await server?.kill9()
    clearTimeout(watchdog)
  }
}
