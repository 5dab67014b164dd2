/** Kinds of bad clients whose uploads are made before each try, since a try uses them up. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { HeaderLine } from '../../../planes/http/exchange.ts'
import { completionOf, createUpload, partTarget, uploadTarget, uploadWhole } from '../../support/multipart.ts'
import type { Badness } from './bad-clients.ts'
import type { GoodClient } from './good-clients.ts'
import { MODEST, type QueuePlace, signedAs } from './queue-kinds.ts'
import { sendAll } from './send-all.ts'

interface PreparedKind {
  /** Makes the uploads of one try, and what bad clients send about them. */
  readonly prepare: () => Promise<readonly Badness[]>
  readonly modest: GoodClient
}

/** The most that an upload may have (S3 user guide, multipart upload limits). Each part is a payload of its own. */
const PARTS_MAXIMUM = 10_000
const ABORTED_UPLOADS = 3
/** The good clients begin some 1.5 s after the bad ones, and ask for 6 s. */
const FIRST_ABORT_MILLISECONDS = 2000
const ABORT_EVERY_MILLISECONDS = 1500
/**
 * A PUT waits for the batch before its own. A batch of 10,000 payloads cannot be divided (spec/decisions/0174) and takes 70 to
 * 290 ms, so a bar of 250 ms would judge the machine.
 */
const BATCH_MILLISECONDS_MAXIMUM = 400
const PUT_BODY = Buffer.alloc(4096, 'p')

/**
 * Parts of each object: objects in the smallest class of sizes, and larger ones. All parts are one payload of 8 MiB, so
 * 20 GiB cost the disk nothing and take some ten seconds to hash.
 */
const DIGESTED_OBJECTS = [...Array.from({ length: 200 }, () => 1), ...Array.from({ length: 100 }, () => 24)]
/**
 * The modest object waits for its turn between steps of 8 MiB (spec/decisions/0018). A worker that found nothing to do
 * looks again after 1 s, so the bar cannot be less once the flood is hashed.
 */
const DIGEST_MILLISECONDS_MAXIMUM = 1500
const LOOK_MILLISECONDS = 20
const PENDING = 409

export function multipartKinds(place: QueuePlace): Readonly<Record<string, PreparedKind>> {
  const { server, bucket, good } = place
  const { port } = server
  const put = async () => (await server.raw('PUT', `/${bucket}/put`, { ...good.signing, body: PUT_BODY })).status
  const modestBucket = place.buckets.at(-1) ?? bucket
  return {
    'aborts of many parts': {
      prepare: async () => {
        const aborts: string[] = []
        for (let upload = 0; upload < ABORTED_UPLOADS; upload += 1) aborts.push(await uploadOfManyParts(place))
        return aborts.map((first, index) => ({
          port,
          connections: 1,
          first,
          reads: false,
          comesAfterMilliseconds: FIRST_ABORT_MILLISECONDS + index * ABORT_EVERY_MILLISECONDS,
        }))
      },
      modest: { ...MODEST, name: 'PUT of 4 KiB', ask: put, millisecondsMaximum: BATCH_MILLISECONDS_MAXIMUM },
    },
    digests: {
      prepare: async () => {
        const completions = await uploadsOfCopies(place)
        return completions.map((first) => ({ port, connections: 1, first, reads: false }))
      },
      modest: {
        ...MODEST,
        name: 'upload until its digest is known',
        ask: async () => {
          await uploadWhole(signedAs(server, good), `/${modestBucket}/digested`, ['x'])
          return untilKnown(() => statusOfProof(place, modestBucket, 'digested'))
        },
        millisecondsMaximum: DIGEST_MILLISECONDS_MAXIMUM,
      },
    },
  }
}

/** Of a request of the bad account. */
function headOf({ server, bad }: QueuePlace, method: string, target: string, ...headers: HeaderLine[]): string {
  return server.wire.headText(method, target, {
    headers,
    sign: { ...bad.signing.sign, payloadHash: 'UNSIGNED-PAYLOAD' },
  })
}

/** Gives the abort of an upload with as many parts as there may be, of a byte each. */
async function uploadOfManyParts(place: QueuePlace): Promise<string> {
  const { server, bucket, bad } = place
  const target = `/${bucket}/many-parts`
  const upload = await createUpload(signedAs(server, bad), target)
  const parts = Array.from({ length: PARTS_MAXIMUM }, (_, index) => {
    const part = partTarget(target, upload, index + 1)
    return `${headOf(place, 'PUT', part, ['content-length', '1'])}x`
  })
  await sendAll(server.port, parts)
  return headOf(place, 'DELETE', uploadTarget(target, upload))
}

/** Gives the completions of uploads whose parts are copies by reference. */
async function uploadsOfCopies(place: QueuePlace): Promise<readonly string[]> {
  const { server, bucket, bad } = place
  const source = ['x-amz-copy-source', `${bucket}/large`] as const
  const { headers } = await server.raw('HEAD', `/${bucket}/large`, bad.signing)
  const etag = String(headers.etag)
  const copies: string[] = []
  const completions: string[] = []
  for (const [index, count] of DIGESTED_OBJECTS.entries()) {
    const target = `/${bucket}/digested-${index}`
    const upload = await createUpload(signedAs(server, bad), target)
    const parts = Array.from({ length: count }, (_, part) => ({ number: part + 1, etag }))
    for (const { number } of parts) {
      copies.push(headOf(place, 'PUT', partTarget(target, upload, number), source, ['content-length', '0']))
    }
    const body = completionOf(parts)
    const length = ['content-length', String(body.length)] as const
    completions.push(headOf(place, 'POST', uploadTarget(target, upload), length) + body)
  }
  await sendAll(server.port, copies)
  return completions
}

/** Asks until the answer is another one than that the digest is being computed. */
export async function untilKnown(look: () => Promise<number>): Promise<number> {
  for (;;) {
    const status = await look()
    if (status !== PENDING) return status
    await sleep(LOOK_MILLISECONDS)
  }
}

async function statusOfProof({ server, modest }: QueuePlace, bucket: string, key: string): Promise<number> {
  const path = `/api/v1/buckets/${bucket}/object-proof/${key}`
  const answer = await fetch(`${server.apiEndpoint}${path}`, { headers: { authorization: `Bearer ${modest}` } })
  await answer.arrayBuffer()
  return answer.status
}
