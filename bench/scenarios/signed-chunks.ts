import { randomBytes } from 'node:crypto'
import { Agent, request } from 'node:http'
import { chunkedRequest, encodedBody } from '../../spec/support/chunked-requests.ts'
import type { Bench, Target } from '../bench.ts'
import { presignedTarget } from '../endpoint.ts'
import { inParallel } from '../in-parallel.ts'
import type { Scenario } from '../scenario.ts'
import { connectionsText } from '../sizes.ts'

const MEBIBYTE = 1024 ** 2
const MEBIBYTES = 64
const CONNECTIONS = 4
/** As the libraries of MinIO cut a body. */
const CHUNK_BYTES = 64 * 1024
const ROUNDS = 5
const OBJECTS_A_TURN = 8

/** The upload that is repeated. */
interface Upload {
  readonly target: string
  readonly headers: readonly string[]
  readonly body: Buffer
}

export const signedChunks: Scenario = {
  name: 'signed-chunks',
  title: 'PUT of 64 MiB in signed chunks beside plain ones: what the signatures of chunks cost',
  needs: 'own server',
  run: (bench) => bench.withTarget((target) => compare(bench, target), ['s3.extensions=aws-chunked']),
}

async function compare(bench: Bench, target: Target): Promise<void> {
  const payload = randomBytes(MEBIBYTES * MEBIBYTE)
  const sides = [plainUpload(target, payload), chunkedUpload(target, payload)] as const
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS })
  const rates: [number[], number[]] = [[], []]
  try {
    for (const side of sides) await rateOf(target, agent, side, CONNECTIONS)
    for (let round = 0; round < (bench.settings.quick ? 1 : ROUNDS); round += 1) {
      // In turns, so that other load of the machine affects both.
      for (const side of round % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const)) {
        rates[side].push(await rateOf(target, agent, sides[side], OBJECTS_A_TURN))
      }
    }
  } finally {
    agent.destroy()
  }
  const [plain, chunked] = rates.map(medianOf) as [number, number]
  const words = `PUT ${MEBIBYTES} MiB, ${connectionsText(CONNECTIONS)}`
  const limits = ['md5', 'sha256', 'disk-write'] as const
  bench.add({
    name: 'signed-chunks-plain',
    label: `${words}, plain`,
    value: plain,
    unit: 'MiB/s',
    limits,
    note: noteOf(rates[0]),
  })
  bench.add({
    name: 'signed-chunks-put-64-mib',
    label: `${words}, in signed chunks of 64 KiB`,
    value: chunked,
    unit: 'MiB/s',
    limits,
    note: noteOf(rates[1]),
  })
  bench.add({
    name: 'signed-chunks-ratio',
    label: `${words}: in signed chunks over plain`,
    value: chunked / plain,
    unit: 'ratio',
  })
}

function plainUpload({ endpoint, bucket }: Target, payload: Buffer): Upload {
  const target = presignedTarget(endpoint, { method: 'PUT', path: `/${bucket}/plain` })
  return { target, headers: ['host', hostOf(endpoint.url)], body: payload }
}

function chunkedUpload({ endpoint, bucket }: Target, payload: Buffer): Upload {
  const { url, accessKey, secretKey, region } = endpoint
  const path = `/${bucket}/chunked`
  const { headers, parts } = chunkedRequest({
    form: 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD',
    path,
    host: hostOf(url),
    accessKey,
    secretKey,
    region,
    payload,
    chunkBytes: CHUNK_BYTES,
  })
  return { target: path, headers: headers.flat(), body: encodedBody(parts) }
}

function hostOf(url: string): string {
  return url.slice(url.indexOf('://') + 3)
}

/** MiB of payload a second. */
async function rateOf({ endpoint }: Target, agent: Agent, upload: Upload, objects: number): Promise<number> {
  const { hostname, port } = new URL(endpoint.url)
  const started = performance.now()
  await inParallel(objects, CONNECTIONS, () => put(hostname, port, agent, upload))
  return (objects * MEBIBYTES) / ((performance.now() - started) / 1000)
}

function put(hostname: string, port: string, agent: Agent, { target, headers, body }: Upload): Promise<void> {
  const lines = [...headers, 'content-length', String(body.length)] as unknown as Record<string, string>
  return new Promise((resolve, reject) => {
    const outgoing = request({ hostname, port, agent, method: 'PUT', path: target, headers: lines })
    outgoing.once('error', reject)
    outgoing.once('response', (response) => {
      response.resume()
      response.once('end', () => {
        if (response.statusCode === 200) resolve()
        else reject(new Error(`PUT ${target} was answered ${response.statusCode}`))
      })
    })
    outgoing.end(body)
  })
}

function noteOf(turns: readonly number[]): string {
  return `the median of ${turns.map(Math.round).join(', ')}`
}

function medianOf(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0
}
