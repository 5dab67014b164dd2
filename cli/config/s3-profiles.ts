/**
 * What each name of the setting `s3.profile` stands for. After a release the values of a profile never change: what a later
 * version adds gets a profile of a new name, so that an upgrade turns nothing on.
 */
import type { Profile } from '../../planes/objects/s3-extensions.ts'
import type { Config, ConfigName } from './config-types.ts'

type ProfiledName = 's3.extensions' | 's3.unsigned_chunks_over_http' | 's3.hostnames'

/** Values of settings as a TOML file has them. */
export const S3_PROFILES: Readonly<Record<Profile, { readonly [Name in ProfiledName]?: string | readonly string[] }>> =
  {
    strict: { 's3.extensions': [], 's3.unsigned_chunks_over_http': 'false' },
    compatible: {
      's3.extensions': [
        'append',
        'aws-chunked',
        'bucket-policy',
        'bucket-reads',
        'checksums',
        'delete-objects',
        'lifecycle-api',
        'list-objects-v1',
        'listen',
        'post-object',
        'presign-v2',
        'rename-object',
        'tagging',
        'upload-part-copy',
      ],
      's3.unsigned_chunks_over_http': 'private',
      's3.hostnames': ['*'],
    },
  }

/** The settings with another value than the profile gives them, which were set by name. */
export function profileOverrides(config: Config): ConfigName[] {
  const values = Object.entries(S3_PROFILES[config['s3.profile']])
  return values.flatMap(([name, value]) => {
    const named = name as ProfiledName
    return String(config[named]) === String(value) ? [] : [named]
  })
}

/** The profile in words, with the settings that override it. */
export function profileText(config: Config): string {
  const overrides = profileOverrides(config)
  return overrides.length === 0
    ? config['s3.profile']
    : `${config['s3.profile']}, with ${overrides.join(' and ')} set by name`
}
