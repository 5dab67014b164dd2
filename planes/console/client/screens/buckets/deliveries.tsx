import { call } from '../../api/call.ts'
import { ADMINISTRATORS, may } from '../../api/session.ts'
import { Empty, Loading } from '../../parts/loading.tsx'
import { Time } from '../../parts/time.tsx'
import { useLoaded } from '../../parts/use-loaded.ts'
import { Replay } from './replay.tsx'

const SHOWN_MAXIMUM = 50

interface DeliveriesProps {
  readonly webhook: string
  /** Called when a replay has started. */
  readonly changed: () => void
}

/** The last attempts of a webhook, newest first. */
export function Deliveries({ webhook, changed }: DeliveriesProps) {
  const loaded = useLoaded(
    async (signal) => {
      const query = { webhook_id: webhook, limit: SHOWN_MAXIMUM }
      return (await call('GET /webhook-deliveries', { query }, signal)).deliveries
    },
    [webhook],
  )
  return (
    <div class="deliveries">
      <Loading of={loaded}>
        {(deliveries) =>
          deliveries.length === 0 ? (
            <Empty title="Nothing was sent yet" />
          ) : (
            <div class="scrolls">
              <table>
                <caption>The last {SHOWN_MAXIMUM} attempts</caption>
                <thead>
                  <tr>
                    <th>Time</th>
                    <th>Event</th>
                    <th>Attempt</th>
                    <th>Result</th>
                    <th>Next</th>
                  </tr>
                </thead>
                <tbody>
                  {deliveries.map(({ event_id, kind, attempt, timestamp, success, status, error, next_attempt_at }) => (
                    <tr key={`${event_id} ${kind} ${attempt} ${timestamp}`}>
                      <td>
                        <Time at={timestamp} />
                      </td>
                      <td>
                        <code>{event_id}</code> {kind === 'event' ? null : <span class="badge">{kind}</span>}
                      </td>
                      <td>{attempt}</td>
                      <td class={success ? 'good' : 'bad'}>
                        {success ? 'delivered' : 'failed'} {status} {error}
                      </td>
                      <td>{next_attempt_at === null ? '' : <Time at={next_attempt_at} />}</td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
          )
        }
      </Loading>
      <p class="actions">
        <button type="button" onClick={loaded.reload}>
          Look again
        </button>
        {may(ADMINISTRATORS) ? <Replay webhook={webhook} changed={() => (loaded.reload(), changed())} /> : null}
      </p>
    </div>
  )
}
