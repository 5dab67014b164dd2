import { resolve, sep } from 'node:path'
import type { Config } from '../config/config-types.ts'

/** The place that the setting `checkpoints.lock` names. */
type LockSetting =
  | { readonly kind: 's3'; readonly bucket: string; readonly prefix: string }
  | { readonly kind: 'file'; readonly directory: string }

/** No character that the path of a request encodes, and no segment that a server or a library takes away. */
const S3_LOCK = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])((?:\/[A-Za-z0-9_-][A-Za-z0-9._-]*)*)$/
const LOOPBACK = /^http:\/\/(?:127\.\d+\.\d+\.\d+|\[::1\]|localhost)(?:[:/]|$)/

/** Whether the way is protected from reading and change: https, or http to an address of this machine. */
export function isPrivateUrl(url: string): boolean {
  return url.startsWith('https://') || LOOPBACK.test(url)
}

/** @returns undefined when the text is neither form */
export function lockSetting(text: string): LockSetting | undefined {
  if (text.startsWith('file:///') && !text.includes('\0')) {
    return { kind: 'file', directory: resolve(text.slice('file://'.length)) }
  }
  const [, bucket, path = ''] = S3_LOCK.exec(text) ?? []
  return bucket === undefined ? undefined : { kind: 's3', bucket, prefix: path === '' ? '' : `${path.slice(1)}/` }
}

/** The fault of the lock's settings, if any. */
export function lockProblem(config: Config): string | undefined {
  const text = config['checkpoints.lock']
  if (text === undefined) return undefined
  const lock = lockSetting(text)
  if (lock === undefined) return 'must be s3://BUCKET, s3://BUCKET/PREFIX or file:///DIRECTORY'
  if (lock.kind === 'file') {
    const inside = `${lock.directory}${sep}`.startsWith(`${resolve(config.data_dir)}${sep}`)
    return inside ? 'the directory is inside the data directory, and would be rolled back with it' : undefined
  }
  const endpoint = config['checkpoints.lock_endpoint']
  if (endpoint === undefined) return 'the address of the store of the lock is missing'
  if (!isPrivateUrl(endpoint)) return 'the address must be https, or http to an address of this machine'
  if (new URL(endpoint).pathname !== '/') return 'the address must have no path'
  const isWhole =
    config['checkpoints.lock_access_key'] !== undefined && config['checkpoints.lock_secret_key'] !== undefined
  return isWhole ? undefined : 'the access key or the secret key for the lock is missing'
}
