/** The audit trail: what each request left in the journal, as the program prints it. */
import { groupedBy } from './grouped.ts'
import type { Names } from './names.ts'
import { runCommand, type Server } from './server.ts'

interface PrintedRecord {
  readonly event_id: string
  readonly kind: string
  readonly principal?: string
  readonly credential_id?: string | null
  readonly source_ip?: string | null
  readonly request_id?: string | null
  readonly operation?: string
  readonly resource?: string
  readonly result?: string
  readonly metadata?: Readonly<Record<string, unknown>>
  readonly changes?: readonly { readonly kind?: string }[]
}

/** Records of each request by its id, and those of no request. */
export interface Trail {
  readonly byRequest: ReadonlyMap<string, readonly PrintedRecord[]>
  readonly others: readonly PrintedRecord[]
}

function isOfRequest({ request_id }: PrintedRecord): boolean {
  return typeof request_id === 'string'
}

export async function readTrail(checkout: string, server: Server): Promise<Trail> {
  const { code, stdout, stderr } = await runCommand(checkout, ['journal', 'show'], server.environment)
  if (code !== 0) throw new Error(`journal show ended with ${code}: ${stderr}`)
  const records = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as PrintedRecord)
  return {
    byRequest: groupedBy(records.filter(isOfRequest), ({ request_id }) => request_id ?? ''),
    others: records.filter((record) => !isOfRequest(record)),
  }
}

/** The records of one request, one line each, told without what their place in the journal decides. */
export function recordLines(records: readonly PrintedRecord[], names: Names): string[] {
  return records.map((record, index) => {
    const { intent_event_id: intent, ...metadata } = record.metadata ?? {}
    const earlier = records.slice(0, index).findIndex(({ event_id }) => event_id === intent)
    const attempt =
      intent === undefined ? '' : ` of ${earlier === -1 ? 'an attempt elsewhere' : `record ${earlier + 1}`}`
    const who = `${record.principal}/${record.credential_id ?? '-'} ${record.source_ip ?? '-'}`
    const changes = (record.changes ?? []).map(({ kind }) => kind).join(' ')
    const what = `${record.kind} ${record.operation ?? ''} ${record.resource ?? ''}`
    const line = `${what} ${who} ${record.result ?? ''}${attempt} ${JSON.stringify(metadata)} [${changes}]`
    names.learn(line)
    return names.canonical(line)
  })
}

/** The different kinds of records that no request made, each once: how many there are is a matter of time. */
export function otherLines(records: readonly PrintedRecord[], names: Names): string[] {
  const lines = records.flatMap((record) => recordLines([record], names))
  return [...new Set(lines.map((line) => line.replace(/\{.*\} /, '')))].toSorted()
}
