import { expiryText, listText, NONE, UNLIMITED, type Setting, type SettingReaders } from '../records/setting-texts.ts'
import type { SharingCommands } from './commands.ts'
import { updatedEmbed } from './rules.ts'
import type { EmbedState, ShareState, SharingState } from './state.ts'

/** Of a password only that there is one. */
function shareSettings({
  fileName,
  password,
  expiresMicroseconds,
  maximumDownloads,
}: Pick<ShareState, 'fileName' | 'password' | 'expiresMicroseconds' | 'maximumDownloads'>): Setting[] {
  return [
    ['expires', undefined, expiryText(expiresMicroseconds)],
    ['maximum_downloads', undefined, maximumDownloads ?? UNLIMITED],
    ['password', undefined, password === undefined ? NONE : 'set'],
    ['file_name', undefined, fileName ?? NONE],
  ]
}

function embedSettings(
  wanted: Pick<EmbedState, 'allowedOrigins' | 'expiresMicroseconds' | 'cacheSeconds'>,
  before?: EmbedState,
): Setting[] {
  return [
    ['allowed_origins', before && listText(before.allowedOrigins), listText(wanted.allowedOrigins)],
    ['expires', before && expiryText(before.expiresMicroseconds), expiryText(wanted.expiresMicroseconds)],
    ['cache_seconds', before?.cacheSeconds, wanted.cacheSeconds],
  ]
}

/** What a new or changed link is, in its records. No secret is read. */
export const sharingSettings: SettingReaders<SharingCommands, { readonly links: SharingState }> = {
  'create-share': (command) => shareSettings(command),

  'create-embed': (command) => embedSettings(command),

  'update-embed'(command, { links }) {
    const present = links.embed(command.embed)
    return present === undefined ? [] : embedSettings(updatedEmbed(command, present), present)
  },
}
