/** Which shares and embeds the deployment allows, and their base addresses. */
export interface SharingSettings {
  /** Without it no link is made, and none is followed. */
  readonly enabled: boolean
  /** Of a link that is made or changed from now on; undefined: it may live for ever. */
  readonly maximumLifetimeSeconds: number | undefined
  /** Whether a share that is made from now on needs a password. */
  readonly requiresPassword: boolean
  /** Base of the address of a share, before `/s/`; without a slash at the end. */
  readonly shareUrl: string
  /** The same of an embed, before `/e/`. */
  readonly embedUrl: string
}
