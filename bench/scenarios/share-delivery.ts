import { randomBytes } from 'node:crypto'
import type { Bench, Target } from '../bench.ts'
import { inParallel } from '../in-parallel.ts'
import { getLoad, indexRange, type Load } from '../load.ts'
import { manage } from '../management.ts'
import { objectKey } from '../object-keys.ts'
import { S3Client } from '../s3-client.ts'
import type { Scenario } from '../scenario.ts'
import { SMALL_BYTES, USUAL_CONNECTIONS } from '../sizes.ts'
import { measureInTurns } from '../turns.ts'

const ROUNDS = 5
const LARGE_MEBIBYTES = 64
const LARGE_SECONDS_MINIMUM = 4
const LARGE_CONNECTIONS = 8
const MANAGERS = 8

/** A delivered object, and how it is measured. */
interface Size {
  readonly name: string
  readonly title: string
  readonly bytes: number
  readonly objects: number
  readonly connections: number
  readonly rateBy: Load['rateBy']
}

const SIZES: readonly Size[] = [
  {
    name: '4-kib',
    title: '4 KiB',
    bytes: SMALL_BYTES,
    objects: 1000,
    connections: USUAL_CONNECTIONS,
    rateBy: 'time',
  },
  {
    name: '64-mib',
    title: `${LARGE_MEBIBYTES} MiB`,
    bytes: LARGE_MEBIBYTES * 1024 ** 2,
    objects: 2,
    connections: LARGE_CONNECTIONS,
    rateBy: 'count',
  },
]

/** Links of one kind: how they are made, and the path that delivers. */
interface LinkKind {
  readonly name: 'share' | 'embed'
  readonly collection: string
  readonly body: object
  readonly pathOf: (token: string) => string
  readonly urlOf: (target: Target) => string
}

const KINDS: readonly LinkKind[] = [
  {
    name: 'share',
    collection: 'object-shares',
    body: {},
    pathOf: (token) => `/s/${token}/content`,
    urlOf: ({ managementUrl = '' }) => managementUrl,
  },
  {
    name: 'embed',
    collection: 'object-embeds',
    body: { allowed_origins: ['*'] },
    pathOf: (token) => `/e/${token}`,
    urlOf: ({ endpoint }) => endpoint.url,
  },
]

/** The same objects by links and by signed GETs, in turns. */
export const shareDelivery: Scenario = {
  name: 'share-delivery',
  title: 'Delivery by links of shares and embeds beside GETs of the S3 plane, in turns',
  needs: 'own server',
  run: async (bench) => {
    for (const size of SIZES) {
      await bench.withTarget(async (target) => {
        await target.client.fill(target.bucket, 0, size.objects, randomBytes(size.bytes))
        for (const kind of KINDS) await compare(bench, target, size, kind)
      })
    }
  },
}

async function compare(bench: Bench, target: Target, size: Size, kind: LinkKind): Promise<void> {
  const indexes = indexRange(0, size.objects)
  const signed = getLoad(target.bucket, indexes, size.bytes, size.rateBy)
  const paths = await linksTo(target, indexes, kind)
  // They are signed as well, since the load generator signs what it sends; the server ignores that here.
  const byLink: Load = { ...signed, requests: paths.map((path) => ({ method: 'GET', path })) }
  const endpoint = { ...target.endpoint, url: kind.urlOf(target) }
  const client = new S3Client(endpoint)
  try {
    const name = `${kind.name}-delivery-${size.name}`
    const ratio = await measureInTurns(
      bench,
      { figure: `${name}-s3`, label: `GET ${size.title} of the S3 plane`, target, load: signed },
      { figure: name, label: `${size.title} by ${kind.name}`, target: { ...target, endpoint, client }, load: byLink },
      {
        connections: size.connections,
        seconds:
          size.rateBy === 'count' ? Math.max(LARGE_SECONDS_MINIMUM, bench.settings.seconds) : bench.settings.seconds,
        rounds: ROUNDS,
        ...(size.rateBy === 'count' ? { objectBytes: size.bytes } : {}),
        limits: ['http'],
      },
    )
    bench.add({
      name: `${name}-ratio`,
      label: `Rate of ${size.title} by ${kind.name} over that of the S3 plane`,
      value: ratio,
      unit: 'ratio',
    })
  } finally {
    client.close()
  }
}

async function linksTo(target: Target, indexes: readonly number[], kind: LinkKind): Promise<string[]> {
  const paths: string[] = []
  await inParallel(indexes.length, MANAGERS, async (index) => {
    const path = `/buckets/${target.bucket}/${kind.collection}/${encodeURIComponent(objectKey(index))}`
    const { text } = await manage(target, 'POST', path, Buffer.from(JSON.stringify(kind.body)))
    const { url } = JSON.parse(text) as { readonly url: string }
    paths.push(kind.pathOf(url.slice(url.lastIndexOf('/') + 1)))
  })
  return paths
}
