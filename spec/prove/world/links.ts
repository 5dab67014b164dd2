/** Shares and embeds: an administrator makes, changes and ends them, and people without credentials follow them. */
import { API } from '../../../planes/management/routing/define-route.ts'
import { type Place } from '../../model/choices.ts'
import { targetOf } from '../../model/expectation.ts'
import { sameText } from '../../model/operations/buckets.ts'
import { wireId } from '../../model/state.ts'
import { expiryOf, type KnownEmbed, type KnownShare, type LinkLedger, linksOf } from './link-ledger.ts'
import { guess, openConsole, rush, stray, type Visit, visitEmbed, visitShare } from './link-visitors.ts'
import { stepByChance } from './step-by-chance.ts'
import type { WorldStore } from './world-store.ts'

const VISITS_MAXIMUM = 12
/** Links of one kind that are followed. */
const LINKS_MAXIMUM = 6

interface Created {
  readonly id: string
  readonly url: string
  readonly expires_at: string | null
}

/** Carries out a request that must succeed. */
async function manage({ world, model }: Visit, method: string, path: string, body: object): Promise<unknown> {
  const { status, text } = await world.manage(method, `${API}${path}`, JSON.stringify(body))
  model.log.push(`${method} ${API}${path} ${JSON.stringify(body)}: ${status}`)
  if (status >= 300) throw new Error(`${method} ${path} ${JSON.stringify(body)}: ${status} ${text}`)
  return text === '' ? undefined : JSON.parse(text)
}

/** What a new link is told, and what is known of it then; undefined where there is nothing to link to. */
function wishFor({ model: { world }, place, random }: Visit) {
  const bucket = world.buckets.get(place.bucket)
  const version = random.of([world.current(bucket, place.key), ...world.versions(bucket, place.key)])
  if (bucket === undefined || version === undefined || version.isMarker) return undefined
  const isOfVersion = version !== world.current(bucket, place.key) || random.below(3) === 0
  const versionId = isOfVersion ? wireId(version) : undefined
  if (isOfVersion && versionId === undefined) return undefined
  const seconds = random.of([undefined, undefined, 60, 86_400])
  const body = {
    ...(versionId !== undefined && { version_id: versionId }),
    ...(seconds !== undefined && { expires_in_seconds: seconds }),
  }
  const known = { ...place, bucketId: bucket.id, version: isOfVersion ? version.sequence : undefined }
  return { body, known: { ...known, state: 'there' as const } }
}

function pathOf(kind: 'object-shares' | 'object-embeds', { bucket, key }: Place): string {
  return `/buckets/${bucket}${targetOf(kind, key)}`
}

function made({ id, url, expires_at }: Created) {
  return { id, token: url.slice(url.lastIndexOf('/') + 1), expires: expiryOf(expires_at) }
}

async function makeShare(each: Visit): Promise<void> {
  const { random, ledger, place } = each
  const wish = wishFor(each)
  if (wish === undefined || ledger.shares.length >= LINKS_MAXIMUM) return
  const password = random.of([undefined, undefined, 'correct horse', 'pässwörd & more'])
  const maximumDownloads = random.of([undefined, 1, 2, 3])
  const body = {
    ...wish.body,
    ...(password !== undefined && { password }),
    maximum_downloads: maximumDownloads ?? null,
  }
  const created = (await manage(each, 'POST', pathOf('object-shares', place), body)) as Created
  ledger.shares.push({ ...wish.known, ...made(created), password, maximumDownloads, downloads: 0 })
}

async function makeEmbed(each: Visit): Promise<void> {
  const { random, ledger, place } = each
  const wish = wishFor(each)
  if (wish === undefined || ledger.embeds.length >= LINKS_MAXIMUM) return
  const origins = random.of([['*'], ['https://one.example'], ['https://one.example', 'https://two.example']])
  const body = { ...wish.body, allowed_origins: origins, cache_seconds: 60 }
  const created = (await manage(each, 'POST', pathOf('object-embeds', place), body)) as Created
  ledger.embeds.push({ ...wish.known, ...made(created), origins, cacheSeconds: 60 })
}

/** Ends one, or changes who may show it. Nothing is known any more of one that was deleted some time ago. */
async function change(each: Visit, kind: 'shares' | 'embeds', link: KnownShare | KnownEmbed): Promise<void> {
  const { random, ledger } = each
  if (link.state === 'deleted') {
    const all: (KnownShare | KnownEmbed)[] = ledger[kind]
    all.splice(all.indexOf(link), 1)
    return
  }
  const way = random.of(['revoke', 'delete', 'update', 'update'] as const)
  if (way === 'delete') await manage(each, 'DELETE', `/${kind}/${link.id}`, {})
  else if (way === 'revoke') await manage(each, 'POST', `/${kind}/${link.id}/revoke`, {})
  else if (kind === 'embeds' && link.state === 'there') {
    const origins = random.of([['*'], ['https://other.example']])
    await manage(each, 'PATCH', `/embeds/${link.id}`, { allowed_origins: origins, expires_in_seconds: 3600 })
  }
}

type Kind = (each: Visit) => Promise<void>

function ofShare(follow: (each: Visit, share: KnownShare) => Promise<void>): Kind {
  return async (each) => {
    const { shares } = each.ledger
    if (shares.length > 0) await follow(each, each.random.of(shares))
  }
}

function ofEmbed(follow: (each: Visit, embed: KnownEmbed) => Promise<void>): Kind {
  return async (each) => {
    const { embeds } = each.ledger
    if (embeds.length > 0) await follow(each, each.random.of(embeds))
  }
}

const followShare = ofShare(visitShare)
const followEmbed = ofEmbed(visitEmbed)

const KINDS: readonly Kind[] = [
  makeShare,
  makeShare,
  makeEmbed,
  followShare,
  followShare,
  followShare,
  ofShare(rush),
  ofShare(guess),
  followEmbed,
  followEmbed,
  ofShare((each, share) => change(each, 'shares', share)),
  ofEmbed((each, embed) => change(each, 'embeds', embed)),
  stray,
  openConsole,
]

/** What the management plane shows of downloads is what was fetched. */
async function requireCounts(world: WorldStore, { shares }: LinkLedger): Promise<void> {
  for (const { id, state, maximumDownloads, downloads } of shares) {
    if (state === 'deleted' || maximumDownloads === undefined) continue
    const shown = await world.server.api.get<{ downloads: number }>('GET', `/shares/${id}`)
    const problem = sameText(shown.downloads, downloads)
    if (problem !== undefined) throw new Error(`downloads of ${id}: ${problem}`)
  }
}

export const linkStep = stepByChance('links are made and followed', async (chance) => {
  const { world, random } = chance
  const each = { ...chance, ledger: linksOf(world.host) }
  if (each.ledger.shares.length === 0) await makeShare(each)
  for (let count = 1 + random.below(VISITS_MAXIMUM); count > 0; count -= 1) await random.of(KINDS)(each)
  await requireCounts(world, each.ledger)
})
