import { nodeDisk } from '../../../../engine/disk/node-disk.ts'
import type { StorePaths } from '../../../../engine/disk/store-paths.ts'
import type { Genesis } from '../../../../engine/journal/bodies.ts'
import { findKeys } from '../../../../engine/journal/key-file.ts'
import { MasterKeyMismatchError } from '../../../../engine/keys/master-key-id.ts'
import { formatAddress } from '../../../config/address.ts'
import type { Address, Config } from '../../../config/config-types.ts'
import { profileText } from '../../../config/s3-profiles.ts'
import { keyAdvice, MASTER_KEY_MISSING, masterKeysOf } from '../../../config/server-credentials.ts'
import { chooseDriver } from '../../../../planes/http/choose-driver.ts'
import { frontEndCountOf } from '../../../server/chosen-driver.ts'
import { connectionLimits } from '../../../server/connection-limit.ts'
import { openFilesMaximum } from '../../../server/open-files.ts'
import { mustChangeMasterKey } from '../../../server/store/change-master-key.ts'
import { claimPort } from '../../../server/threads/claim-port.ts'
import { problemOfDates } from '../../../server/tls/certificate-dates.ts'
import { ListenerTls, tlsListeners } from '../../../server/tls/listener-tls.ts'
import { DoctorFailure, type Found } from './finding.ts'

/** Connections of a front end below which a few busy clients are refused some. */
const CONNECTIONS_FEW = 512

export async function listener(address: Address, isRunning: boolean): Promise<Found> {
  if (isRunning) return { status: 'skipped', detail: 'a server has the data directory open' }
  if (address.port === 0) return 'any free port is taken'
  await claimPort(address.host, address.port)
  return `${formatAddress(address)} is free`
}

export function s3Profile(config: Config): Found {
  const extensions = config['s3.extensions']
  return `${profileText(config)}; extensions: ${extensions.length === 0 ? 'none' : extensions.join(', ')}`
}

export async function consoleListener(config: Config, isRunning: boolean): Promise<Found> {
  if (config['console.enabled']) return listener(config['console.bind'], isRunning)
  return { status: 'skipped', detail: 'console.enabled is false' }
}

/** Which implementation of HTTP a server takes. */
export async function httpDriver(config: Config): Promise<Found> {
  const { driver, problem } = await chooseDriver(config['server.http_driver'])
  frontEndCountOf(config, driver)
  if (problem === undefined) return driver
  return { status: 'warning', detail: `requests are served by the slower HTTP of Node: ${problem}` }
}

/** How many connections a server takes that is started as this command was. */
export async function openFiles(config: Config, maximum: number = openFilesMaximum()): Promise<Found> {
  if (maximum === Number.POSITIVE_INFINITY) return 'there is no limit'
  const { driver } = await chooseDriver(config['server.http_driver'])
  const { frontEnd, management } = connectionLimits(frontEndCountOf(config, driver), maximum)
  const detail = `with ${maximum} open files at most, each front end takes ${frontEnd} connections, and management ${management}`
  return frontEnd < CONNECTIONS_FEW ? { status: 'warning', detail: `${detail}; more are closed` } : detail
}

/** @throws Error for files that cannot be used, and certificates that clients refuse */
export function certificates(config: Config): Found {
  const tls = new ListenerTls(config)
  const shown = tlsListeners.flatMap((name) => {
    const certificate = tls.certificate(name)
    return certificate === undefined
      ? []
      : [{ name, validTo: certificate.validTo, problem: problemOfDates(certificate) }]
  })
  const said = shown
    .filter(({ problem }) => problem !== undefined)
    .map(({ name, problem, validTo }) => `${name}: ${problem} (${validTo})`)
  if (shown.some(({ problem }) => problem !== undefined && problem !== 'the certificate expires soon')) {
    throw new Error(said.join('; '))
  }
  if (said.length > 0) return { status: 'warning', detail: said.join('; ') }
  if (shown.length === 0) return 'no listener speaks TLS'
  return shown.map(({ name, validTo }) => `${name} until ${validTo}`).join(', ')
}

export function masterKey(config: Config, paths: StorePaths, genesis: Genesis | Error | undefined): Found {
  const { masterKey: key, previousMasterKey } = masterKeysOf(config)
  if (key === undefined) throw new DoctorFailure('no master key is configured', MASTER_KEY_MISSING)
  if (genesis === undefined || genesis instanceof Error) return 'it is configured'
  if (mustChangeMasterKey(nodeDisk, paths, { masterKey: key, previousMasterKey })) {
    return 'the previous one is the key of this store, and the next start changes it'
  }
  try {
    findKeys(nodeDisk, paths, key)
  } catch (error) {
    throw error instanceof MasterKeyMismatchError ? new DoctorFailure(error.message, keyAdvice(config)) : error
  }
  return 'it is the key of this store'
}

export function rootCredential(config: Config): Found {
  if (config['root.access_key'] !== undefined && config['root.secret_key'] !== undefined) return 'it is configured'
  throw new Error('no root credential is configured')
}

export function metricsToken(config: Config): Found {
  if (config['metrics.scrape_token'] !== undefined) return 'it is configured'
  return { status: 'warning', detail: 'no scrape token is configured, so the metrics are closed' }
}
