/** The members of a record that link an outcome to its attempt. */
interface Joinable {
  readonly event_id: string
  readonly result: string
  readonly metadata: Readonly<Record<string, unknown>>
}

/** A request as one line: a change has two records, an attempt before it and the outcome after it. */
export interface Joined<E> {
  readonly attempt?: E
  /** The only record of a request that changes nothing. Undefined for an attempt without an outcome. */
  readonly outcome?: E
}

/** @param events the newest first, so that an outcome comes before its attempt */
export function joinRecords<E extends Joinable>(events: readonly E[]): Joined<E>[] {
  const lines: Joined<E>[] = []
  const waiting = new Map<string, number>()
  for (const event of events) {
    const place = event.result === 'attempted' ? waiting.get(event.event_id) : undefined
    if (place !== undefined) lines[place] = { ...lines[place], attempt: event }
    else if (event.result === 'attempted') lines.push({ attempt: event })
    else {
      const attempt = event.metadata['intent_event_id']
      if (typeof attempt === 'string') waiting.set(attempt, lines.length)
      lines.push({ outcome: event })
    }
  }
  return lines
}

/** The record that a line shows. */
export function recordOf<E>({ attempt, outcome }: Joined<E>): E {
  return (outcome ?? attempt) as E
}
