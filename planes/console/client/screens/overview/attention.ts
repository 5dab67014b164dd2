/** Rules for conditions that need an operator, with advice. */
import { type Metric, leastOf, valueOf } from './metrics.ts'
import { riseOf, type Step } from './readings.ts'

/** State of the server at one moment. */
interface Facts {
  readonly ready: boolean
  /** Functions that are degraded. */
  readonly degraded?: readonly { readonly name: string; readonly reason: string }[]
  readonly capacityBytes: number
  readonly availableBytes: number
  readonly metrics: readonly Metric[]
  /** Steps of the last hour. */
  readonly steps: readonly Step[]
  /** Time of the newest reading, in seconds since 1970. */
  readonly nowSeconds: number
}

interface Concern {
  readonly grave: boolean
  readonly text: string
}

const DAY_SECONDS = 86_400
const CERTIFICATE_SECONDS = 14 * DAY_SECONDS
/** Fractions of free disk space below which the operator should act soon, and now. */
const [LITTLE_ROOM, NO_ROOM] = [0.2, 0.05]

type Rule = (facts: Facts) => Concern | undefined

function when(holds: boolean, grave: boolean, text: string): Concern | undefined {
  return holds ? { grave, text } : undefined
}

/** A rule for a counter that should not rise. */
function rising(name: string, grave: boolean, text: (rise: number) => string): Rule {
  return ({ steps }) => {
    const rise = riseOf(steps, name)
    return when(rise > 0, grave, text(rise))
  }
}

const RULES: readonly Rule[] = [
  ({ ready }) => when(!ready, true, 'The server is not ready: /ready names the parts that are not.'),
  ({ metrics }) => {
    const found = valueOf(metrics, 'object_store_damage_found_total') ?? 0
    return when(found > 0, true, `Damage was met ${found} times since the start: verify the chain and the buckets.`)
  },
  ({ capacityBytes, availableBytes }) => {
    const part = availableBytes / Math.max(capacityBytes, 1)
    const percent = Math.floor(part * 100)
    return when(
      part < LITTLE_ROOM,
      part < NO_ROOM,
      `Only ${percent}% of the disk is free: make room, or writes are refused.`,
    )
  },
  rising(
    'object_store_errors_total',
    true,
    (rise) => `${rise} requests failed by a fault of the server in the last hour: its log says why.`,
  ),
  rising(
    'object_store_journal_refused_changes_total',
    true,
    (rise) => `${rise} changes were refused in the last hour, since the disk has no room.`,
  ),
  rising(
    'object_store_operations_rejected_total',
    false,
    (rise) => `${rise} requests were sent away in the last hour, since too many waited.`,
  ),
  rising(
    'object_store_webhook_deliveries_failed_total',
    false,
    (rise) => `${rise} deliveries to webhooks failed for good in the last hour.`,
  ),
  rising(
    'object_store_lifecycle_failed_total',
    false,
    (rise) => `${rise} removals by lifecycle rules failed in the last hour: the log of the server says why.`,
  ),
  ({ metrics }) => {
    const lag = valueOf(metrics, 'object_store_lifecycle_lag_seconds') ?? 0
    const text = `Removals by lifecycle rules are ${Math.floor(lag / DAY_SECONDS)} days behind: raise lifecycle.batch_size.`
    return when(lag >= DAY_SECONDS, false, text)
  },
  ({ metrics, nowSeconds }) => {
    const end = leastOf(metrics, 'object_store_tls_certificate_not_after_seconds')
    if (end === undefined) return undefined
    const days = Math.floor((end - nowSeconds) / DAY_SECONDS)
    return when(end - nowSeconds < CERTIFICATE_SECONDS, end < nowSeconds, `A certificate expires in ${days} days.`)
  },
]

/** The concerns, grave ones first; empty when all is well. */
export function concernsOf(facts: Facts): Concern[] {
  const degraded = (facts.degraded ?? []).map(({ name, reason }) => ({
    grave: true,
    text: `Degraded, ${name}: ${reason}.`,
  }))
  const concerns = [...degraded, ...RULES.flatMap((rule) => rule(facts) ?? [])]
  return concerns.toSorted((left, right) => Number(right.grave) - Number(left.grave))
}
