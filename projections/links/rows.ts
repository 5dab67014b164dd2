import type { RecordTimes } from '../../engine/journal/record-times.ts'
import type { BucketId, Sequence } from '../../engine/brands.ts'
import type { EmbedState, ShareState, SharingState } from '../../engine/links/state.ts'
import type { SharingChange } from '../../engine/links/change-types.ts'
import { embedRows, shareRows, targetKey, linksOfKey, type sharingTables } from './tables.ts'
import type { EndsSpan } from '../../engine/state-ports.ts'
import { type Ending, endsIn, putEnd, removeEnd } from '../tables/ends.ts'
import type { FeatureRows } from '../apply/feature-rows.ts'
import type { NamedTables } from '../tables/named-tables.ts'

const NOTHING = Buffer.alloc(0)

function endOfShare({ share, expiresMicroseconds }: Pick<ShareState, 'share' | 'expiresMicroseconds'>): Ending {
  return { kind: 'share', id: share, expiresMicroseconds }
}

function endOfEmbed({ embed, expiresMicroseconds }: Pick<EmbedState, 'embed' | 'expiresMicroseconds'>): Ending {
  return { kind: 'embed', id: embed, expiresMicroseconds }
}

type RowTables = NamedTables<typeof sharingTables>

/** Applies changes to shares and embeds. */
export class SharingRows implements SharingState, FeatureRows<SharingChange> {
  readonly #tables: RowTables

  constructor(tables: RowTables) {
    this.#tables = tables
  }

  share(share: string): ShareState | undefined {
    return shareRows.get(this.#tables.shares, share)
  }

  embed(embed: string): EmbedState | undefined {
    return embedRows.get(this.#tables.embeds, embed)
  }

  get shareCount(): number {
    return this.#tables.shares.count()
  }

  get embedCount(): number {
    return this.#tables.embeds.count()
  }

  sharesOfKey(bucketId: BucketId, key: string, limit: number): number {
    return linksOfKey(this.#tables.shareTargets, bucketId, key, limit).length
  }

  embedsOfKey(bucketId: BucketId, key: string, limit: number): number {
    return linksOfKey(this.#tables.embedTargets, bucketId, key, limit).length
  }

  apply(_sequence: Sequence, { timeMicroseconds: time }: RecordTimes, change: SharingChange): void {
    switch (change.name) {
      case 'share.created': {
        const { name: _, ...made } = change
        const { share, digest } = made
        this.#tables.shareDigests.put(Buffer.from(digest), Buffer.from(share))
        this.#tables.shareTargets.put(targetKey(made, share), NOTHING)
        putEnd(this.#tables.linkEnds, endOfShare(made))
        return this.#put({ ...made, createdMicroseconds: time, revokedMicroseconds: undefined, downloads: 0 })
      }
      case 'share.revoked':
        return this.#put({ ...this.#ended(this.#requireShare(change.share)), revokedMicroseconds: time })
      case 'share.downloaded': {
        const before = this.#requireShare(change.share)
        return this.#put({ ...before, downloads: before.downloads + 1 })
      }
      case 'share.deleted': {
        const before = this.#ended(this.#requireShare(change.share))
        this.#tables.shareDigests.remove(Buffer.from(before.digest))
        this.#tables.shareTargets.remove(targetKey(before, before.share))
        return this.#tables.shares.remove(Buffer.from(before.share))
      }
      case 'embed.created': {
        const { name: _, ...made } = change
        const { embed, digest } = made
        this.#tables.embedDigests.put(Buffer.from(digest), Buffer.from(embed))
        this.#tables.embedTargets.put(targetKey(made, embed), NOTHING)
        putEnd(this.#tables.linkEnds, endOfEmbed(made))
        return this.#putEmbed({ ...made, createdMicroseconds: time, revokedMicroseconds: undefined })
      }
      case 'embed.updated': {
        const { name: _, embed, ...settings } = change
        const after = { ...this.#endedEmbed(this.#requireEmbed(embed)), ...settings }
        putEnd(this.#tables.linkEnds, endOfEmbed(after))
        return this.#putEmbed(after)
      }
      case 'embed.revoked':
        return this.#putEmbed({ ...this.#endedEmbed(this.#requireEmbed(change.embed)), revokedMicroseconds: time })
      case 'embed.deleted': {
        const before = this.#endedEmbed(this.#requireEmbed(change.embed))
        this.#tables.embedDigests.remove(Buffer.from(before.digest))
        this.#tables.embedTargets.remove(targetKey(before, before.embed))
        return this.#tables.embeds.remove(Buffer.from(before.embed))
      }
    }
  }

  endsIn(span: EndsSpan): boolean {
    return endsIn(this.#tables.linkEnds, span)
  }

  /** A link that is revoked or deleted does not end any more. */
  #ended(share: ShareState): ShareState {
    removeEnd(this.#tables.linkEnds, endOfShare(share))
    return share
  }

  #endedEmbed(embed: EmbedState): EmbedState {
    removeEnd(this.#tables.linkEnds, endOfEmbed(embed))
    return embed
  }

  #put(state: ShareState): void {
    shareRows.put(this.#tables.shares, state)
  }

  #putEmbed(state: EmbedState): void {
    embedRows.put(this.#tables.embeds, state)
  }

  #requireShare(share: string): ShareState {
    const found = this.share(share)
    if (found === undefined) throw new Error(`share ${share} is changed but not there`)
    return found
  }

  #requireEmbed(embed: string): EmbedState {
    const found = this.embed(embed)
    if (found === undefined) throw new Error(`embed ${embed} is changed but not there`)
    return found
  }
}
