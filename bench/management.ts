import { Agent, type IncomingMessage, request } from 'node:http'
import type { Target } from './bench.ts'

/** Sends a request to the management listener of a target as root; resolves when its answer has been read. */
export async function manage(
  { managementUrl = '', endpoint }: Target,
  method: 'GET' | 'POST' | 'PUT',
  path: string,
  body: Buffer = Buffer.alloc(0),
  agent?: Agent,
): Promise<{ readonly bytes: number; readonly text: string }> {
  const authorization = `Basic ${Buffer.from(`${endpoint.accessKey}:${endpoint.secretKey}`).toString('base64')}`
  const headers = { authorization, 'content-type': 'application/json', 'content-length': body.length }
  const url = `${managementUrl}/api/v1${path}`
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const sent = request(url, { method, headers, ...(agent === undefined ? {} : { agent }) }, resolve)
    sent.on('error', reject)
    sent.end(body)
  })
  let bytes = 0
  let text = ''
  for await (const piece of response) {
    bytes += (piece as Buffer).length
    // Large objects are counted and not kept.
    if (bytes < 1_048_576) text += (piece as Buffer).toString('latin1')
  }
  const status = response.statusCode ?? 0
  if (status < 200 || status > 299) throw new Error(`${method} ${path} was answered ${status}: ${text.slice(0, 300)}`)
  return { bytes, text }
}
