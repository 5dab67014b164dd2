import { randomBytes } from 'node:crypto'
import { Agent, type IncomingMessage, request } from 'node:http'
import type { Bench, Target } from '../bench.ts'
import { presignedUrl } from '../endpoint.ts'
import { inParallel } from '../in-parallel.ts'
import { manage } from '../management.ts'
import type { Scenario } from '../scenario.ts'

const MEBIBYTES = 64
const OBJECT_BYTES = MEBIBYTES * 1024 ** 2
const CONNECTIONS = 2
const ROUNDS = 5

/** One client sends the same bytes to both planes in turns; it is slower than wrk, and the same for both. */
export const managementTransfers: Scenario = {
  name: 'management-transfers',
  title: `Uploads and downloads of ${MEBIBYTES} MiB by the management plane and by S3, in turns`,
  needs: 'own server',
  run: (bench) => bench.withTarget((target) => compare(bench, target)),
}

type Transfer = (key: string) => Promise<void>

async function compare(bench: Bench, target: Target): Promise<void> {
  const body = randomBytes(OBJECT_BYTES)
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS })
  const path = (collection: string, key: string) => `/buckets/${target.bucket}/${collection}/${key}`
  try {
    await compareOne(bench, 'upload', {
      s3: (key) => s3(target, 'PUT', key, body, agent),
      management: async (key) => void (await manage(target, 'PUT', path('object', key), body, agent)),
    })
    await compareOne(bench, 'download', {
      s3: (key) => s3(target, 'GET', key, Buffer.alloc(0), agent),
      management: async (key) => {
        const { bytes } = await manage(target, 'GET', path('object-content', key), Buffer.alloc(0), agent)
        if (bytes !== OBJECT_BYTES) throw new Error(`${bytes} bytes came`)
      },
    })
  } finally {
    agent.destroy()
  }
}

async function compareOne(
  bench: Bench,
  name: 'upload' | 'download',
  planes: { readonly s3: Transfer; readonly management: Transfer },
): Promise<void> {
  const seconds = { s3: [] as number[], management: [] as number[] }
  // One round more than is counted: the first one warms both up.
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const plane of ['s3', 'management'] as const) {
      const began = performance.now()
      await inParallel(2 * CONNECTIONS, CONNECTIONS, (index) => planes[plane](`object-${index}`))
      if (round > 0) seconds[plane].push((performance.now() - began) / 1000)
    }
  }
  const rate = (plane: 's3' | 'management') => (2 * CONNECTIONS * MEBIBYTES) / median(seconds[plane])
  for (const plane of ['s3', 'management'] as const) {
    const label = `${name} of ${MEBIBYTES} MiB by ${plane === 's3' ? 'S3' : 'the management plane'}`
    bench.add({ name: `transfer-${plane}-${name}`, label, value: rate(plane), unit: 'MiB/s' })
  }
  bench.add({
    name: `management-${name}-ratio`,
    label: `Rate of ${name}s by the management plane over that by S3`,
    value: rate('management') / rate('s3'),
    unit: 'ratio',
  })
}

function median(values: readonly number[]): number {
  return values.toSorted((left, right) => left - right)[Math.floor(values.length / 2)] as number
}

async function s3(target: Target, method: 'GET' | 'PUT', key: string, body: Buffer, agent: Agent): Promise<void> {
  const url = presignedUrl(target.endpoint, { method, path: `/${target.bucket}/${key}` })
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const sent = request(url, { method, agent, headers: { 'content-length': body.length } }, resolve)
    sent.on('error', reject)
    sent.end(body)
  })
  let bytes = 0
  for await (const piece of response) bytes += (piece as Buffer).length
  if (response.statusCode !== 200) throw new Error(`${method} ${key} was answered ${response.statusCode}`)
  if (method === 'GET' && bytes !== OBJECT_BYTES) throw new Error(`${bytes} bytes came`)
}
