/** Which shares and embeds there are, by what is promised of them, from acknowledged commands alone. */
import type { Command, CommandOf } from '../../engine/commands/commands.ts'
import { type Moment, type Outcome, refuse } from './refusals.ts'
import type { ModelState } from './state.ts'

const DONE: Outcome = { code: 'done' }

interface ModelLink {
  readonly bucketId: number
  readonly key: string
  /** Sequence of the one version that it leads to. */
  readonly version: number | undefined
  readonly isRevoked: boolean
  readonly expiresMicroseconds: number | undefined
}

export interface ModelShare extends ModelLink {
  readonly maximumDownloads: number | undefined
  readonly downloads: number
}

export interface ModelEmbed extends ModelLink {
  readonly allowedOrigins: readonly string[]
  readonly cacheSeconds: number
}

type Creation = CommandOf<'create-share'> | CommandOf<'create-embed'>

function linkTo(state: ModelState, { bucket: name, key, version: wanted, expiresMicroseconds }: Creation): ModelLink {
  const bucket = state.buckets.get(name) ?? refuse('bucket-not-found')
  const link = { bucketId: bucket.id, key, isRevoked: false, expiresMicroseconds }
  if (wanted === undefined) {
    if (state.current(bucket, key) === undefined) refuse('object-not-found')
    return { ...link, version: undefined }
  }
  const all = state.versions(bucket, key)
  const found = all.find(({ isNull, sequence }) => (wanted === 'null' ? isNull : !isNull && sequence === wanted))
  if (found === undefined) return refuse('version-not-found')
  if (found.isMarker) refuse('version-is-marker')
  return { ...link, version: found.sequence }
}

function count(share: ModelShare, { now }: Moment): ModelShare {
  const { isRevoked, expiresMicroseconds: end, maximumDownloads, downloads } = share
  if (isRevoked) refuse('share-revoked')
  if (end !== undefined && end <= now * 1000) refuse('share-expired')
  if (maximumDownloads === undefined) return share
  if (downloads >= maximumDownloads) refuse('share-exhausted')
  return { ...share, downloads: downloads + 1 }
}

/** Carries out a command about links; undefined for any other. */
export function changeLinks(state: ModelState, command: Command, moment: Moment): Outcome | undefined {
  const { shares, embeds } = state
  const share = (id: string) => shares.get(id) ?? refuse('share-not-found', id)
  const embed = (id: string) => embeds.get(id) ?? refuse('embed-not-found', id)
  switch (command.kind) {
    case 'create-share': {
      const link = linkTo(state, command)
      if (shares.has(command.share)) refuse('share-exists', command.share)
      shares.set(command.share, { ...link, maximumDownloads: command.maximumDownloads, downloads: 0 })
      return DONE
    }
    case 'revoke-share':
      shares.set(command.share, { ...share(command.share), isRevoked: true })
      return DONE
    case 'count-download':
      shares.set(command.share, count(share(command.share), moment))
      return DONE
    case 'delete-share':
      share(command.share)
      shares.delete(command.share)
      return DONE
    case 'create-embed': {
      const { allowedOrigins, cacheSeconds } = command
      const link = linkTo(state, command)
      if (embeds.has(command.embed)) refuse('embed-exists', command.embed)
      embeds.set(command.embed, { ...link, allowedOrigins, cacheSeconds })
      return DONE
    }
    case 'update-embed': {
      const before = embed(command.embed)
      if (before.isRevoked) refuse('embed-revoked', command.embed)
      const { allowedOrigins = before.allowedOrigins, cacheSeconds = before.cacheSeconds, expiry } = command
      embeds.set(command.embed, { ...before, ...expiry, allowedOrigins, cacheSeconds })
      return DONE
    }
    case 'revoke-embed':
      embeds.set(command.embed, { ...embed(command.embed), isRevoked: true })
      return DONE
    case 'delete-embed':
      embed(command.embed)
      embeds.delete(command.embed)
      return DONE
    default:
      return undefined
  }
}
