import { availableParallelism } from 'node:os'
import { type HttpDriver, sharesPorts } from '../../planes/http/http-driver.ts'
import { chooseDriver } from '../../planes/http/choose-driver.ts'
import type { Config } from '../config/config-types.ts'
import { ExitError } from '../exit-codes.ts'
import type { Logger } from './log/logger.ts'

/**
 * The HTTP driver of this server; a warning says when it is not the preferred one.
 * @throws ExitError when the configured driver is not available
 */
export async function chosenDriver(config: Config, log: Logger): Promise<HttpDriver> {
  const { driver, problem } = await chooseDriver(config['server.http_driver']).catch((error: Error) => {
    throw new ExitError('usage', error.message, { cause: error })
  })
  if (problem !== undefined) {
    const lines = { reason: problem, node: process.versions.node }
    log.warn(lines, 'uWebSockets.js cannot be loaded, so requests are served by the slower HTTP of Node')
  }
  return driver
}

/**
 * How many threads serve S3 requests.
 * @throws ExitError when the configuration names more than this version of Node can let share a port
 */
export function frontEndCountOf(config: Config, driver: HttpDriver, nodeVersion = process.versions.node): number {
  const wanted = config['s3.front_ends']
  if (sharesPorts(driver, nodeVersion)) return wanted || Math.max(1, availableParallelism() - 1)
  if (wanted <= 1) return 1
  const reason = `Node ${nodeVersion} cannot let ${wanted} threads share a port over its own HTTP`
  throw new ExitError('usage', `${reason}: set s3.front_ends to 1, or use Node 22.12 or later (not 23.0)`)
}
