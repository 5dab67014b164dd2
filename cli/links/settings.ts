/** Shares and embeds. */
import type { ConfigRow } from '../config/config-row.ts'

export const sharingSettings = [
  {
    name: 'sharing.enabled',
    kind: 'boolean',
    default: true,
    sentence: 'Whether shares and embeds can be created, and existing ones followed.',
  },
  {
    name: 'sharing.maximum_lifetime_seconds',
    kind: 'integer',
    unit: 'seconds',
    bounds: { minimum: 0, maximum: 315_360_000 },
    default: 0,
    sentence: 'Maximum lifetime of new shares and embeds; 0: no maximum.',
  },
  {
    name: 'sharing.require_password',
    kind: 'boolean',
    default: false,
    sentence: 'Whether new shares must have a password.',
  },
  {
    name: 'sharing.public_share_url',
    kind: 'text',
    bounds: { minimum: 8, maximum: 1024 },
    form: 'base-url',
    sentence:
      'Base URL of shares, for example https://files.example.com; without it, the address of the management listener.',
  },
  {
    name: 'sharing.public_embed_url',
    kind: 'text',
    bounds: { minimum: 8, maximum: 1024 },
    form: 'base-url',
    sentence: 'Base URL of embeds; without it, the address of the S3 listener.',
  },
] as const satisfies readonly ConfigRow[]
