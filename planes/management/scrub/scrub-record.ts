import type { OpaqueIds } from '../../../engine/keys/opaque-ids.ts'
import { isScrubbing } from '../../../engine/scrub/rules.ts'
import type { CatalogSnapshot } from '../../../projections/catalog/catalog-snapshot.ts'
import { versionIdOf } from '../../objects/version-ids.ts'
import { ADMINISTRATORS, defineRoute, json } from '../routing/define-route.ts'
import { jsonResponse } from '../responses.ts'
import { command } from '../routing/route-command.ts'
import { component } from '../schemas/components.ts'
import { rfc3339, rfc3339OrNull } from '../requests/timestamps.ts'

/** The last pass of the scrub; null before the first. */
export function scrubRecord(snapshot: CatalogSnapshot, versionIds: OpaqueIds): Record<string, unknown> | null {
  const scrub = snapshot.scrub()
  if (scrub === undefined) return null
  const { startedMicroseconds, payloads, segments, bytes, damaged } = scrub.progress
  return {
    state: isScrubbing(scrub.progress) ? 'running' : 'complete',
    started_at: rfc3339(startedMicroseconds),
    completed_at: rfc3339OrNull(scrub.completedMicroseconds),
    payloads,
    segments,
    bytes,
    damaged,
    damage: scrub.damage.map(({ damage: { kind, number, reason, objects }, foundMicroseconds }) => ({
      kind,
      number,
      reason,
      found_at: rfc3339(foundMicroseconds),
      objects: objects.map(({ bucketId, key, version }) => ({
        bucket: snapshot.bucketName(bucketId) ?? null,
        key,
        version_id: version === undefined ? null : versionIdOf(version, versionIds),
      })),
    })),
  }
}

/** Whether the `scrub` of a status names damage. */
export function damageOfScrub(scrub: unknown): boolean {
  const damage = (scrub as { readonly damage?: readonly unknown[] } | null)?.damage
  return damage !== undefined && damage.length > 0
}

export const beginScrub = defineRoute({
  pattern: 'POST /storage/scrub',
  roles: ADMINISTRATORS,
  summary: 'Starts a scrub, which reads everything stored, unless one is running.',
  answer: { 202: json(component('StorageScrub')) },
  async handle(request, { catalog, versionIds }) {
    await request.journal.execute({ kind: 'begin-scrub' })
    return jsonResponse(202, scrubRecord(catalog.snapshot(), versionIds))
  },
  command: command('storage scrub', 'begin to read everything that is stored, to find damage; storage status shows it'),
})
