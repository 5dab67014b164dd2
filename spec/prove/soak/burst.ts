/**
 * PUTs whose bodies are held back. A burst of them takes every place that there is: whoever comes then is told SlowDown,
 * those that were let in are finished, and everything goes on. A few of them when the server is asked to end are
 * requests in progress, and it waits for them.
 */
import { type ClientRequest, type IncomingMessage, request as httpRequest } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { sampleBytes } from '../../support/sample-bytes.ts'
import { firstElement } from '../../support/wire-client.ts'
import type { Clients } from './actor.ts'
import { OBJECT_BUCKET } from './object-actor.ts'
import { EVENTS } from './soak-kinds.ts'
import type { Tally } from './tally.ts'

const BODY_BYTES = 64
/** What is asked for beyond the places that there are. */
const TOO_MANY = 64
/** Long enough for every head to be read, shorter than a place is waited for. */
const HOLD_MILLISECONDS = 1200
const ANSWER_MILLISECONDS_MAXIMUM = 30_000
/** Requests in progress at an orderly end, how long they are by then, and how long they go on. */
const LATE = { requests: 16, beforeMilliseconds: 3000, afterMilliseconds: 500 } as const

interface Held {
  readonly request: ClientRequest
  readonly body: Buffer
  readonly answer: Promise<string>
}

/** @param places requests that may run and wait together */
export async function burst(clients: Clients, places: number, seed: number, tally: Tally): Promise<void> {
  const held = openSeveral(clients, places + TOO_MANY, seed)
  await sleep(HOLD_MILLISECONDS)
  for (const answer of await finished(held)) {
    if (answer === '200') tally.happened(EVENTS.released)
    else if (answer === '503 SlowDown') tally.happened(EVENTS.slowDown)
    else tally.finding('error', `a request of a burst: ${answer}`)
  }
}

/**
 * Has requests in progress when the server is asked to end; it must finish all that it let in.
 * @param ask asks it
 */
export async function askWhileInProgress(clients: Clients, seed: number, tally: Tally, ask: () => void): Promise<void> {
  const held = openSeveral(clients, LATE.requests, seed)
  await sleep(LATE.beforeMilliseconds)
  ask()
  await sleep(LATE.afterMilliseconds)
  for (const answer of await finished(held)) {
    if (answer === '200') tally.happened(EVENTS.finished)
    else if (answer !== '503 SlowDown') tally.finding('error', `a request in progress at an orderly end: ${answer}`)
  }
}

function openSeveral(clients: Clients, count: number, seed: number): Held[] {
  return Array.from({ length: count }, (_, index) => open(clients, index, sampleBytes(BODY_BYTES, seed + index)))
}

/** Sends the bodies; gives the answers. */
function finished(held: readonly Held[]): Promise<string[]> {
  for (const { request, body } of held) request.end(body)
  return Promise.all(held.map(({ answer }) => answer))
}

/** Sends the head; its answer is a status with the code of a refusal, or what went wrong. Never rejects. */
function open({ life, wire }: Clients, index: number, body: Buffer): Held {
  const path = `/${OBJECT_BUCKET}/zz-burst-${index % TOO_MANY}`
  const headers = [...wire.headersOf('PUT', path, { body }), ['content-length', String(BODY_BYTES)] as const]
  const lines = headers.flat() as unknown as Record<string, string>
  const { port } = life.server
  const request = httpRequest({ host: '127.0.0.1', port, method: 'PUT', path, headers: lines, agent: false })
  const answer = new Promise<string>((resolve) => {
    const timer = setTimeout(() => request.destroy(new Error('no answer')), ANSWER_MILLISECONDS_MAXIMUM)
    request.on('error', (error) => resolve(String(error)))
    request.on(
      'response',
      (response) => void statusOf(response).then(resolve, (error: unknown) => resolve(String(error))),
    )
    request.on('close', () => clearTimeout(timer))
  })
  request.flushHeaders()
  return { request, body, answer }
}

async function statusOf(response: IncomingMessage): Promise<string> {
  let text = ''
  for await (const piece of response) text += String(piece)
  const code = firstElement(text, 'Code')
  return code === undefined ? String(response.statusCode) : `${response.statusCode} ${code}`
}
