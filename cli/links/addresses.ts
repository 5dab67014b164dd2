import type { SharingSettings } from '../../engine/links/settings.ts'
import type { Config } from '../config/config-types.ts'

/**
 * The configured settings of shares and embeds.
 * @param listeners the addresses of the management and the S3 listener, for clients on this machine
 */
export function sharingSettings(
  config: Config,
  listeners: { readonly api: string; readonly s3: string },
): SharingSettings {
  const seconds = config['sharing.maximum_lifetime_seconds']
  return {
    enabled: config['sharing.enabled'],
    maximumLifetimeSeconds: seconds === 0 ? undefined : seconds,
    requiresPassword: config['sharing.require_password'],
    shareUrl: baseUrl(config['sharing.public_share_url'] ?? listeners.api),
    embedUrl: baseUrl(config['sharing.public_embed_url'] ?? listeners.s3),
  }
}

function baseUrl(url: string): string {
  return url.replace(/\/+$/, '')
}
