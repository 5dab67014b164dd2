/** Lists of keys to be deleted: nobody removes a key that they may not remove alone, or learns from one what there is. */
import { hash } from 'node:crypto'
import type { HeaderLine } from '../../../planes/http/exchange.ts'
import { requestTarget, signHeaders } from '../../support/signing.ts'
import { deletionDocument, digestOf, type WireDeletion } from '../../support/wire-deletions.ts'
import { type Arena, BUCKET, KEY, OTHER_BUCKET, type Signers } from './arena.ts'
import type { Assault } from './assault.ts'
import type { RawAnswer } from '../../support/raw/raw-answer.ts'
import { requestBytes } from '../../support/raw/request-text.ts'

/** Whether an answer is a list of keys of which none was deleted, nor is more told of any than that it is refused. */
export function everyKeyIsRefused({ status, body }: RawAnswer): boolean {
  if (status !== 200 || !body.includes('<DeleteResult ') || body.includes('<Deleted>')) return false
  const codes = [...body.matchAll(/<Code>([^<]*)<\/Code>/g)].map(([, code]) => code)
  return codes.length > 0 && codes.every((code) => code === 'AccessDenied')
}

/** What is there, what is not there, and what is in no bucket. */
const BUCKETS = [BUCKET, 'attacx']
const KEYS = [KEY, 'kex', 'locked']
const ETAG = hash('md5', `bytes of ${KEY}`, 'hex')
const BYPASS: HeaderLine = ['x-amz-bypass-governance-retention', 'true']

/** With everything that could make an answer depend on what is there. */
const CONDITIONS: readonly Omit<WireDeletion, 'Key'>[] = [
  {},
  { VersionId: 'null' },
  { VersionId: 'never-given-out' },
  { VersionId: '..' },
  { ETag: ETAG },
  { ETag: '"0"', VersionId: 'null' },
]

/** Keys of the own bucket that name another one to whoever resolves, splits or decodes them. */
const NAMES = [
  `../${BUCKET}/${KEY}`,
  `/${BUCKET}/${KEY}`,
  `/../${BUCKET}/${KEY}`,
  `..%2f${BUCKET}%2f${KEY}`,
  `%2e%2e/${BUCKET}/${KEY}`,
  `${KEY}</Key></Object><Object><Key>../${BUCKET}/${KEY}`,
  `http://127.0.0.1/${BUCKET}/${KEY}`,
  '*',
  '**/*',
  '/',
]

interface Batch {
  readonly name: string
  readonly sender: keyof Signers
  readonly bucket: string
  readonly deletions: readonly WireDeletion[]
  readonly headers: readonly HeaderLine[]
}

function bytesOf({ server, signers }: Arena, { sender, bucket, deletions, headers }: Batch): string {
  const body = deletionDocument(deletions)
  const query = [['delete', '']] as const
  const path = `/${bucket}`
  const lines = [digestOf(body), ...headers]
  const { host } = server.wire
  const signing = { method: 'POST', path, query, headers: lines, host, region: 'us-east-1', ...signers[sender] }
  const signedLines = signHeaders({ ...signing, now: Date.now(), payloadHash: hash('sha256', body, 'hex') })
  return requestBytes('POST', requestTarget(path, query), signedLines, body)
}

/** By those who may delete nothing, and by those who may delete and not read, bypass or remove versions. */
function hiddenBatches(): Batch[] {
  return (['nothing', 'denied', 'reader', 'elsewhere', 'writer'] as const).flatMap((sender) =>
    CONDITIONS.flatMap((condition) =>
      [[], [BYPASS]].flatMap((headers) => {
        const isRefused = sender !== 'writer' || 'VersionId' in condition || 'ETag' in condition || headers.length > 0
        if (!isRefused) return []
        return BUCKETS.map((bucket) => ({
          name: `by ${sender} in ${bucket} with ${JSON.stringify(condition)} and ${headers.length} headers`,
          sender,
          bucket,
          deletions: KEYS.map((key) => ({ Key: key, ...condition })),
          headers,
        }))
      }),
    ),
  )
}

export async function attackBatches(assault: Assault): Promise<void> {
  const { arena, ledger } = assault
  const shapes = new Set<string>()
  await assault.onS3('batches of deletions by who may not', hiddenBatches(), async (lane, batch) => {
    const bytes = bytesOf(arena, batch)
    const answer = await assault.ask(lane, { name: batch.name, method: 'POST', bytes, mayChange: false })
    if (answer === undefined) return
    if (!everyKeyIsRefused(answer)) ledger.fault('let in', batch.name, `${answer.status} ${answer.body}`, bytes)
    shapes.add(answer.body.replaceAll(/<VersionId>[^<]*<\/VersionId>/g, ''))
  })
  if (shapes.size > 1) ledger.fault('leaked', 'batches of deletions', [...shapes].join(' and '))
  const names = NAMES.map((Key) => ({ Key }))
  const own = { name: 'names that lead elsewhere', sender: 'elsewhere', bucket: OTHER_BUCKET, headers: [] } as const
  await assault.onS3('names in batches of deletions', names, async (lane, deletion) => {
    const bytes = bytesOf(arena, { ...own, deletions: [deletion] })
    const name = `${own.name}: ${deletion.Key}`
    await assault.expect(lane, { name, method: 'POST', bytes, mayChange: true }, [200])
  })
  await assault.onS3('what they left', [KEY, 'source', 'locked'], async (lane, key) => {
    const signable = { name: `${key} is there`, method: 'GET', path: `/${BUCKET}/${key}` }
    await assault.signed(lane, signable, [200], false)
  })
}
