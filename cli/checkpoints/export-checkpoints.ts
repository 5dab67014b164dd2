import type { ManagementClient } from '../client/management-client.ts'

/** Content of checkpoints.json while checkpoints are off (specification, Audit export directory). */
const OFF = {
  status: 'unavailable',
  reason: 'not_yet_checkpointed',
  detail:
    'This server makes no checkpoints: checkpoints.interval_seconds is 0. The hash chain is checked by audit chain.',
} as const

/** As the server lists it. */
interface ListedCheckpoint {
  readonly sequence: number
  readonly size: number
  readonly origin: string
}

interface Page {
  readonly checkpoints: readonly ListedCheckpoint[]
  readonly next_after: number | null
}

interface ListedReceipt {
  readonly size: number
}

interface ReceiptPage {
  readonly receipts: readonly ListedReceipt[]
  readonly next_size: number | null
  readonly next_after: number | null
}

const PAGE = 1000

/**
 * checkpoints.json of an export, piece by piece: the checkpoints whose entries are in its range, and later ones up to
 * the first that covers its last record.
 */
export async function* exportedCheckpoints(
  client: ManagementClient,
  sequences: { readonly first: number; readonly last: number } | null,
): AsyncGenerator<Buffer> {
  const status = (await client.json({ method: 'GET', path: '/storage/status' })) as {
    readonly checkpoints?: { readonly enabled?: boolean }
  }
  if (status.checkpoints?.enabled !== true) return yield document(OFF)
  let found = 0
  let isCovered = false
  let origin = ''
  let sizes = { first: 0, last: 0 }
  for await (const checkpoint of sequences === null ? [] : checkpointsFrom(client, sequences.first)) {
    if (found === 0) {
      const vkey = (await client.text({ method: 'GET', path: '/transparency/key' })).trim()
      yield Buffer.from(`{\n  "status": "present",\n  "vkey": ${JSON.stringify(vkey)},\n  "checkpoints": [`)
    }
    yield Buffer.from(`${found === 0 ? '' : ','}\n    ${JSON.stringify(checkpoint)}`)
    sizes = { first: found === 0 ? checkpoint.size : sizes.first, last: checkpoint.size }
    found += 1
    ;({ origin } = checkpoint)
    isCovered = checkpoint.size > (sequences?.last ?? 0)
    if (isCovered) break
  }
  if (found === 0) {
    const why = sequences === null ? 'The range has no records.' : 'No checkpoint covers a record of the range yet.'
    return yield document({ ...OFF, detail: why })
  }
  yield Buffer.from(`\n  ],\n  "origin": ${JSON.stringify(origin)},\n  "covers_range": ${isCovered},\n  "receipts": [`)
  let receipts = 0
  for await (const receipt of receiptsOf(client, sizes)) {
    yield Buffer.from(`${receipts === 0 ? '' : ','}\n    ${JSON.stringify(receipt)}`)
    receipts += 1
  }
  yield Buffer.from(`${receipts === 0 ? '' : '\n  '}]\n}\n`)
}

/** Receipts of others for the checkpoints of these sizes, by size. */
async function* receiptsOf(
  client: ManagementClient,
  { first, last }: { readonly first: number; readonly last: number },
): AsyncGenerator<ListedReceipt> {
  for (let place: { size: number; after: number } | undefined = { size: first, after: 0 }; place !== undefined; ) {
    const query = { size: String(place.size), after: String(place.after) }
    const page = (await client.json({ method: 'GET', path: '/transparency/receipts', query })) as ReceiptPage
    for (const receipt of page.receipts) {
      if (receipt.size > last) return
      yield receipt
    }
    const { next_size: size, next_after: after } = page
    place = size === null || after === null ? undefined : { size, after }
  }
}

/** Checkpoints whose entries are at a sequence or after it, the earliest first. */
async function* checkpointsFrom(client: ManagementClient, first: number): AsyncGenerator<ListedCheckpoint> {
  for (let after: number | null = first - 1; after !== null; ) {
    const query = { limit: String(PAGE), ...(after >= 0 ? { after: String(after) } : {}) }
    const page = (await client.json({ method: 'GET', path: '/transparency/checkpoints', query })) as Page
    yield* page.checkpoints
    after = page.next_after
  }
}

function document(value: object): Buffer {
  return Buffer.from(`${JSON.stringify(value, undefined, 2)}\n`)
}
