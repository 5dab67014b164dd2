/** Recipes of what can be asked of a store: what they become depends on the state that they meet. */

export interface Place {
  readonly bucket: string
  readonly key: string
}

/** Retention to end so many milliseconds from now, which may be in the past. */
export interface RetentionRecipe {
  readonly mode: 'GOVERNANCE' | 'COMPLIANCE'
  readonly inMilliseconds: number
}

/** What a write asks of Object Lock. */
export interface LockRecipe {
  readonly retention: RetentionRecipe | undefined
  readonly hold: boolean | undefined
}

/** Picks one of what is there by number; the numbers behind pick `null`, and what is not there. */
type Pick = number

export type Condition = 'none' | 'absent' | 'exists' | 'matches' | 'mismatches' | 'differs'

export const LINK_DEEDS = [
  'create-share',
  'revoke-share',
  'delete-share',
  'count-download',
  'create-embed',
  'update-embed',
  'revoke-embed',
  'delete-embed',
] as const
export type LinkDeed = (typeof LINK_DEEDS)[number]

/** A command to be, before the state that it meets is known. */
export type Step =
  | { readonly kind: 'create-bucket'; readonly bucket: string; readonly lock: boolean; readonly region: string }
  | { readonly kind: 'delete-bucket'; readonly bucket: string }
  | { readonly kind: 'versioning'; readonly bucket: string; readonly versioning: 'enabled' | 'suspended' }
  | {
      readonly kind: 'default-retention'
      readonly bucket: string
      readonly mode: 'GOVERNANCE' | 'COMPLIANCE' | undefined
      readonly unit: 'days' | 'years'
    }
  | { readonly kind: 'cors'; readonly bucket: string; readonly rules: number }
  | {
      readonly kind: 'quota'
      readonly bucket: string
      readonly bytes: number | undefined
      readonly objects: number | undefined
    }
  | ({
      readonly kind: 'write'
      readonly size: number
      readonly inFile: boolean
      /** Whether the client gives a checksum. */
      readonly checksum: boolean
      readonly condition: Condition
      readonly lock: LockRecipe | undefined
    } & Place)
  | {
      readonly kind: 'copy'
      readonly from: Place
      /** Undefined is the current object. */
      readonly version: Pick | undefined
      readonly to: Place
      readonly replaces: boolean
      readonly lock: LockRecipe | undefined
    }
  | ({
      readonly kind: 'rename'
      /** The key before. */
      readonly from: string
      /** Of the token: none, a new one, or that of the rename before. */
      readonly token: 'none' | 'new' | 'same'
      readonly condition: Condition
    } & Place)
  | ({
      readonly kind: 'delete'
      readonly version: Pick | undefined
      readonly condition: Condition
      readonly bypass: boolean
    } & Place)
  | ({
      readonly kind: 'retain'
      readonly version: Pick | undefined
      readonly retention: RetentionRecipe | undefined
      readonly bypass: boolean
    } & Place)
  | ({ readonly kind: 'hold'; readonly version: Pick | undefined; readonly hold: boolean } & Place)
  | ({
      readonly kind: 'create-upload'
      readonly lock: LockRecipe | undefined
      /** Whether it asks for a checksum of checksums. */
      readonly sums: boolean
    } & Place)
  | {
      readonly kind: 'part'
      readonly upload: Pick
      readonly part: number
      readonly size: 'none' | 'small' | 'full'
      readonly inFile: boolean
    }
  | {
      readonly kind: 'complete'
      readonly upload: Pick
      /** All parts, one left out, a stranger among them, another MD5. */
      readonly list: 'all' | 'fewer' | 'stranger' | 'changed'
      readonly at: number
      readonly condition: Condition
      /** Whether the client gives another checksum than that of the whole. */
      readonly mistakes: boolean
    }
  | { readonly kind: 'abort' | 'reclaim'; readonly upload: Pick }
  /** `again`: the first is moved twice by the same command, the second time from where it is not any more. */
  | { readonly kind: 'move'; readonly payloads: readonly Pick[]; readonly again: boolean }
  | { readonly kind: 'remove-volume'; readonly volume: Pick }
  | { readonly kind: 'digest'; readonly payload: Pick }
  /** Something done with one of a few links, or a new one to a place. */
  | ({
      readonly kind: 'link'
      readonly deed: LinkDeed
      readonly link: Pick
      readonly version: Pick | undefined
    } & Place)
  | { readonly kind: 'access'; readonly what: Pick; readonly who: Pick; readonly which: Pick }

/** Steps sent at once, and by how much the clock goes on before them; or back. */
export interface Group {
  readonly clockMilliseconds: number
  readonly steps: readonly Step[]
}
