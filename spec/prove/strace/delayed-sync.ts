/** J1: while the sync of the journal is on its way, nobody is told of the change, and nobody sees it. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { StorePaths } from '../../../engine/disk/store-paths.ts'
import { type Finding, wrong } from '../../support/dying-servers/client-findings.ts'
import { segmentPath } from '../../support/journal-files.ts'
import { startProcess } from '../../support/server-process.ts'
import { TRACEABLE, trace, tracedCalls, traceEnded } from '../../support/disks/system-call-tracer.ts'
import { firstElement, type WireAnswer, type WireClient } from '../../support/wire-client.ts'

const BUCKET = 'delayed'
const DELAY_SECONDS = 0.3
/** The records of the looks at the change before are written and synced by then, two delays long. */
const QUIET_MILLISECONDS = 800
/** The request whose sync is waited for comes first, and no look before it. */
const LEAD_MILLISECONDS = 30

interface Change {
  readonly name: string
  readonly key: string
  send(wire: WireClient, path: string): Promise<WireAnswer>
}

const CHANGES: readonly Change[] = [
  { name: 'a PUT', key: 'a', send: (wire, path) => wire.send('PUT', path, { body: 'first' }) },
  { name: 'an overwriting PUT', key: 'a', send: (wire, path) => wire.send('PUT', path, { body: 'second' }) },
  { name: 'a large PUT', key: 'b', send: (wire, path) => wire.send('PUT', path, { body: 'l'.repeat(100_000) }) },
  { name: 'a DELETE', key: 'a', send: (wire, path) => wire.send('DELETE', path) },
  { name: 'a multipart upload', key: 'c', send: uploaded },
]

async function uploaded(wire: WireClient, path: string): Promise<WireAnswer> {
  const upload = firstElement((await wire.send('POST', `${path}?uploads`)).text, 'UploadId')
  const target = `${path}?uploadId=${upload}`
  const part = await wire.send('PUT', `${target}&partNumber=1`, { body: 'part' })
  const list = `<Part><PartNumber>1</PartNumber><ETag>${part.headers.etag}</ETag></Part>`
  return wire.send('POST', target, { body: `<CompleteMultipartUpload>${list}</CompleteMultipartUpload>` })
}

/** What a look gave, and when, in seconds since the Unix epoch. */
interface Look {
  readonly at: number
  readonly seesChange: boolean
}

/** One change, from its request to its answer. */
export interface DelayedChange {
  readonly name: string
  readonly sent: number
  readonly answered: number
  readonly looks: readonly Look[]
  /** Whether looks after the answer saw it: otherwise those before said nothing. */
  readonly isSeenAfterwards: boolean
}

/**
 * Makes changes while each sync of the journal takes 0.3 s longer, with GET and LIST all the time.
 * @param directory is made, for the data directory and the log of the tracer
 * @returns how many looks came while a sync was on its way
 */
export async function delayedSyncs(directory: string): Promise<{ looks: number; findings: Finding[] }> {
  mkdirSync(directory)
  const dataDirectory = join(directory, 'data')
  const log = join(directory, 'trace')
  const environment = { ...TRACEABLE, OBJECT_STORE_LOG_REQUESTS: 'none' }
  const server = await startProcess({ dataDirectory, environment })
  const changes: DelayedChange[] = []
  try {
    const { status } = await server.wire.send('PUT', `/${BUCKET}`)
    if (status !== 200) throw new Error(`the bucket cannot be made: ${status}`)
    const paths = [segmentPath(new StorePaths(dataDirectory), -1)]
    const injection = `delay_exit=${DELAY_SECONDS * 1e6}`
    const strace = await trace(server.process, { log, calls: ['fdatasync'], paths, injection })
    for (const change of CHANGES) changes.push(await watched(server.wire, change))
    await server.kill9()
    await traceEnded(strace)
  } finally {
    await server.kill9()
  }
  const syncs = tracedCalls(log).filter(({ words }) => words.includes('(DELAYED)'))
  return judged(
    changes,
    syncs.map(({ began }) => began),
  )
}

/** Makes one change, and looks at it until it is answered. */
async function watched(wire: WireClient, { name, key, send }: Change): Promise<DelayedChange> {
  const path = `/${BUCKET}/${key}`
  const requests = [path, `/${BUCKET}?list-type=2`]
  const before = await Promise.all(requests.map((request) => stateOf(wire, request)))
  const seesChange = async (index: number) => (await stateOf(wire, requests[index] ?? '')) !== before[index]
  await pause(QUIET_MILLISECONDS)
  const sent = now()
  let answered = Number.POSITIVE_INFINITY
  const sending = send(wire, path).then(({ status, text }) => {
    if (status > 299) throw new Error(`${name}: ${status} ${text}`)
    answered = now()
  })
  await pause(LEAD_MILLISECONDS)
  const looks: Look[] = []
  while (now() < answered) {
    for (const index of requests.keys()) looks.push({ seesChange: await seesChange(index), at: now() })
  }
  await sending
  const isSeenAfterwards = (await seesChange(0)) && (await seesChange(1))
  return { name, sent, answered, looks, isSeenAfterwards }
}

async function stateOf(wire: WireClient, target: string): Promise<string> {
  const { status, text } = await wire.send('GET', target)
  // Errors tell the number of the request.
  return status === 200 ? text : String(status)
}

function now(): number {
  return Date.now() / 1000
}

/**
 * Nothing may be told or seen before a sync that began after the request was sent has returned.
 * @param syncs when each of them began
 */
export function judged(
  changes: readonly DelayedChange[],
  syncs: readonly number[],
): { looks: number; findings: Finding[] } {
  const findings: Finding[] = []
  let count = 0
  for (const { name, sent, answered, looks, isSeenAfterwards } of changes) {
    const sync = syncs.find((began) => began >= sent)
    if (sync === undefined || !isSeenAfterwards) {
      findings.push(wrong(`${name}: ${sync === undefined ? 'no sync was delayed' : 'nobody saw it afterwards'}`))
      continue
    }
    const durable = sync + DELAY_SECONDS
    const early = looks.filter(({ at }) => at < durable)
    count += early.length
    if (answered < durable) findings.push(wrong(`${name}: answered ${durable - answered} s before its sync returned`))
    const seen = early.filter(({ seesChange }) => seesChange)
    if (seen.length > 0) findings.push(wrong(`${name}: ${seen.length} looks saw it before its sync returned`))
  }
  return { looks: count, findings }
}
