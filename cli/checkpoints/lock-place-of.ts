import { systemMilliseconds } from '../../engine/clock.ts'
import { nodeDisk } from '../../engine/disk/node-disk.ts'
import { FileLock } from '../../workers/checkpoints/file-lock.ts'
import type { LockPlace } from '../../workers/checkpoints/lock-place.ts'
import { S3Lock } from '../../workers/checkpoints/s3-lock.ts'
import type { Config } from '../config/config-types.ts'
import { lockSetting } from './lock-setting.ts'
import type { Secret } from '../config/secret.ts'

/** For one request to the lock. */
export const LOCK_TIMEOUT_MILLISECONDS = 10_000

/** The lock that the settings name; undefined where none is set. */
export function lockPlaceOf(config: Config): LockPlace | undefined {
  const text = config['checkpoints.lock']
  const setting = text === undefined ? undefined : lockSetting(text)
  if (setting === undefined) return undefined
  if (setting.kind === 'file') return new FileLock(nodeDisk, setting.directory)
  return new S3Lock({
    ...setting,
    endpoint: config['checkpoints.lock_endpoint'] as string,
    region: config['checkpoints.lock_region'],
    accessKey: config['checkpoints.lock_access_key'] as string,
    secretKey: (config['checkpoints.lock_secret_key'] as Secret).reveal(),
    clock: systemMilliseconds,
  })
}
