import { type Milliseconds, millisecondsOf } from '../../../engine/brands.ts'
import { DomainError } from '../../../engine/errors.ts'
import type { CatalogSnapshot } from '../../../projections/catalog/catalog-snapshot.ts'
import type { Ended } from '../../../projections/catalog/ending-listing.ts'
import { versionIdOf } from '../../objects/version-ids.ts'
import { ManagementError } from '../errors.ts'
import { rfc3339 } from '../requests/timestamps.ts'
import { jsonResponse } from '../responses.ts'
import { ADMINISTRATOR, defineRoute, json, type Route } from '../routing/define-route.ts'
import { command } from '../routing/route-command.ts'
import { object, TIME, text } from '../schemas/schema.ts'
import type { ManagementServices } from '../services.ts'

/** What a refusal names, at most. */
const NAMED_MAXIMUM = 10
/** Characters of a key in it. */
const KEY_CHARACTERS = 80

/** Why the clock is not set back, by name, and what to do. */
function heldError({ catalog, clock, versionIds }: ManagementServices): ManagementError {
  const snapshot = catalog.snapshot()
  const span = { after: clock(), through: millisecondsOf(snapshot.journalMilliseconds()) }
  const found = snapshot.endings(span, NAMED_MAXIMUM + 1)
  const named = found.slice(0, NAMED_MAXIMUM).map((one) => nameOf(one, snapshot, versionIds))
  const [after, through] = [span.after, span.through].map((time: Milliseconds) => rfc3339(time * 1000))
  const more = found.length > NAMED_MAXIMUM ? ', and more' : ''
  const message =
    `Between ${after} and ${through} these have ended, and would hold or open again: ${named.join(', ')}${more}. ` +
    'Delete such links, tokens and credentials; a retention must be waited for until the clock of the host has passed it.'
  return new ManagementError('CLOCK_HELD', message)
}

function nameOf(one: Ended, snapshot: CatalogSnapshot, ids: ManagementServices['versionIds']): string {
  if (!('bucketId' in one)) return `${one.kind} ${one.id}`
  const { bucketId, key, version } = one
  const shown = key.length > KEY_CHARACTERS ? `${key.slice(0, KEY_CHARACTERS)}...` : key
  const id = versionIdOf({ isNull: false, sequence: version }, ids)
  return `retention of ${snapshot.bucketName(bucketId) ?? bucketId}/${shown} version ${id}`
}

const setClockBack = defineRoute({
  pattern: 'POST /clock/set-back',
  roles: ADMINISTRATOR,
  summary: 'Sets a wrong time of the journal back to the clock of the host, where nothing has ended in between.',
  request: object({ reason: text({ minimum: 1, maximum: 200 }) }),
  answer: { 200: json(object({ from: TIME, to: TIME })) },
  errors: ['CLOCK_NOT_BEHIND', 'CLOCK_HELD'],
  async handle(request, services) {
    const { reason } = await request.body()
    const from = services.catalog.snapshot().journalMilliseconds()
    try {
      const { timeMicroseconds: to } = await request.journal.execute({ kind: 'set-clock-back', reason }, [
        'reason',
        reason,
      ])
      return jsonResponse(200, { from: rfc3339(from * 1000), to: rfc3339(to) })
    } catch (error) {
      throw error instanceof DomainError && error.code === 'clock-passed-ends' ? heldError(services) : error
    }
  },
  command: command('clock set-back', 'set a wrong time of the journal back to the clock of the host', {
    options: { reason: 'why, for the audit log; 1 to 200 characters' },
    call: ({ reason }) => ({ body: { reason } }),
  }),
})

export const CLOCK_ROUTES: readonly Route[] = [setClockBack]
