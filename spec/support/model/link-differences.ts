/** Holds the shares and embeds of a store against the model of it: the rows, and what their digests and keys lead to. */
import { isDeepStrictEqual } from 'node:util'
import type { EmbedState, ShareState } from '../../../engine/links/state.ts'
import { ProjectionEnvironment } from '../../../projections/lmdb-environment.ts'
import { embedRows, shareRows } from '../../../projections/links/tables.ts'
import { TABLES } from '../../../projections/tables/table-list.ts'
import type { ModelState } from '../../model/state.ts'
import type { TestStore } from '../test-store.ts'

export async function linkDifferences(store: TestStore, { shares, embeds }: ModelState): Promise<string[]> {
  const environment = ProjectionEnvironment.open(store.paths.projections, { readOnly: true })
  const storedShares = shareRows.all(environment.table(TABLES.shares))
  const storedEmbeds = embedRows.all(environment.table(TABLES.embeds))
  const extra = [TABLES.shareDigests, TABLES.shareTargets, TABLES.embedDigests, TABLES.embedTargets]
  const counts = extra.map((name) => environment.table(name).count())
  await environment.close()
  const wrong = [
    ...differs('shares', storedShares.map(plainShare), inOrder(shares)),
    ...differs('embeds', storedEmbeds.map(plainEmbed), inOrder(embeds)),
    ...differs('rows that find links', counts, [shares.size, shares.size, embeds.size, embeds.size]),
  ]
  const now = store.catalog.snapshot()
  for (const { share, digest, bucketId, key } of storedShares) {
    if (now.findShare(digest)?.share !== share) wrong.push(`share ${share} is not found by its digest`)
    if (!now.sharesOfKey(bucketId, key, 1000).some((one) => one.share === share)) wrong.push(`${share} is not listed`)
  }
  for (const { embed, digest, bucketId, key } of storedEmbeds) {
    if (now.findEmbed(digest)?.embed !== embed) wrong.push(`embed ${embed} is not found by its digest`)
    if (!now.embedsOfKey(bucketId, key, 1000).some((one) => one.embed === embed)) wrong.push(`${embed} is not listed`)
  }
  return wrong
}

function plainShare(state: ShareState): unknown {
  const { share, maximumDownloads, downloads } = state
  return [share, { ...plainLink(state), maximumDownloads, downloads }]
}

function plainEmbed(state: EmbedState): unknown {
  const { embed, allowedOrigins, cacheSeconds } = state
  return [embed, { ...plainLink(state), allowedOrigins, cacheSeconds }]
}

function plainLink({ bucketId, key, version, revokedMicroseconds, expiresMicroseconds }: ShareState | EmbedState) {
  const isRevoked = revokedMicroseconds !== undefined
  return { bucketId, key, version: version?.sequence, isRevoked, expiresMicroseconds }
}

function inOrder<L>(links: ReadonlyMap<string, L>): unknown[] {
  return [...links].toSorted(([left], [right]) => (left < right ? -1 : 1))
}

function differs(what: string, found: unknown, expected: unknown): string[] {
  return isDeepStrictEqual(found, expected)
    ? []
    : [`${what}: ${JSON.stringify(found)} instead of ${JSON.stringify(expected)}`]
}
