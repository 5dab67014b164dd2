/** What is left behind by an attack: the journal, the log, the metrics, the export and every file. */
import type { JournalEntry } from '../../support/journal-entries.ts'
import type { Assault } from './assault.ts'
import { Lane } from '../../support/raw/lane.ts'
import type { RawAnswer } from '../../support/raw/raw-answer.ts'
import { apiBytes } from './signed-requests.ts'

/** Where all of it comes from, whatever the requests say of themselves (S24). */
const PEER = '127.0.0.1'
/** What the requests name that hide in the body or behind the end of others. */
const SMUGGLED = 'smuggled'

/** Sequence of the last record of the journal, from where on everything is of the attack. */
export async function lastSequence({ arena }: Assault): Promise<number> {
  return (await arena.server.journal()).at(-1)?.sequence ?? -1
}

/** Nobody changed anything who may not, and every request is in the journal (S1, S13). */
export async function examineJournal({ arena, asked, ledger }: Assault, since: number): Promise<void> {
  const recorded = new Map<string, JournalEntry[]>()
  let changes = 0
  for (const entry of await arena.server.journal()) {
    const { sequence, requestId, sourceAddress, changes: made, operation, resource } = entry
    if (sequence <= since || requestId === undefined) continue
    recorded.set(requestId, [...(recorded.get(requestId) ?? []), entry])
    if (sourceAddress !== PEER) ledger.fault('wrong', `request ${requestId}`, `recorded as from ${sourceAddress}`)
    if (resource.includes(SMUGGLED))
      ledger.fault('let in', `request ${requestId}`, `smuggled: ${operation} ${resource}`)
    if (made.length === 0) continue
    changes += 1
    const one = asked.get(requestId)
    if (one?.mayChange === true) continue
    ledger.fault('let in', one?.name ?? `request ${requestId}`, `record ${sequence} changes: ${operation} ${resource}`)
  }
  ledger.tried('changes by those who may', changes)
  for (const [id, { name, isRecorded, records }] of asked) {
    const found = recorded.get(id) ?? []
    if (isRecorded && found.length === 0) ledger.fault('wrong', name, `request ${id} is not in the journal`)
    if (records === undefined) continue
    const [is, wanted] = [found.map(recordText).join('\n'), records.join('\n')]
    const isLinked = found.length < 2 || found[1]?.intent === found[0]?.sequence
    if (is !== wanted || !isLinked) ledger.fault('wrong', name, `recorded as ${is}\n  instead of ${wanted}`)
  }
}

function recordText({ principal, credentialId, operation, resource, result }: JournalEntry): string {
  return `${principal} ${credentialId} ${operation}: ${resource} ${result}`
}

/** No secret is in what the server writes or tells of itself (S10, S11, S26). */
export async function searchSecrets(assault: Assault): Promise<void> {
  const { arena, canaries, ledger } = assault
  ledger.tried('signatures to look for', canaries.signatures)
  for (const line of arena.server.log) {
    const found = canaries.findIn(line)
    if (found !== undefined) ledger.fault('leaked', 'log', `${found}: ${line.slice(0, 500)}`)
  }
  ledger.tried('lines of the log', arena.server.log.length)
  const { systemToken: system, scrapeToken: scrape } = arena.known
  for (const [target, token] of [
    ['/metrics', scrape],
    ['/api/v1/system/metrics', system],
    ['/api/v1/audit/export?format=json', system],
    ['/api/v1/audit/export?format=csv', system],
    ['/api/v1/service-accounts', system],
    ['/api/v1/management-tokens', system],
    ['/api/v1/system/info', system],
  ] as const) {
    const answer = await readFromApi(assault, target, token)
    if (answer === undefined) continue
    const found = canaries.findIn(answer.body)
    if (found !== undefined) ledger.fault('leaked', target, found)
  }
}

async function readFromApi({ arena, ledger }: Assault, target: string, token: string): Promise<RawAnswer | undefined> {
  const lane = new Lane(arena.apiPort)
  const { answer } = await lane.exchange(apiBytes(arena, 'GET', target, { token }), 'GET')
  lane.close()
  if (answer?.status === 200 && answer.body !== '') return answer
  ledger.fault('wrong', target, `cannot be searched: ${answer?.status} ${answer?.body.slice(0, 200)}`)
  return undefined
}

/** The same for the files of the store, when the server has ended. */
export function searchFiles({ arena, canaries, ledger }: Assault): void {
  for (const [path, name] of canaries.findBelow(arena.server.dataDirectory)) ledger.fault('leaked', path, name)
}

/** The server has noticed no fault of its own, and ends in good order. */
export async function endServer({ arena, ledger }: Assault): Promise<void> {
  const { server } = arena
  if (server.process.exitCode !== null) {
    ledger.fault('wrong', 'the server', `ended with ${server.process.exitCode}: ${server.log.slice(-5).join('\n')}`)
    return
  }
  await server.raw('GET', '/').then(
    ({ status }) => {
      if (status !== 200) ledger.fault('wrong', 'the server afterwards', `status ${status}`)
    },
    (error: unknown) => ledger.fault('wrong', 'the server afterwards', String(error)),
  )
  const exit = await server.terminate()
  if (exit !== 0) ledger.fault('wrong', 'the server', `ended with ${exit}: ${server.log.slice(-5).join('\n')}`)
  for (const line of server.log) {
    const { level, err } = JSON.parse(line) as { readonly level: number | string; readonly err?: { type?: string } }
    // Of the payloads that the attack altered itself.
    if (err?.type === 'PayloadDamagedError') continue
    if (level === 50 || level === 60 || level === 'error' || level === 'fatal') {
      ledger.fault('wrong', 'the log of the server', line.slice(0, 1000))
    }
  }
}
