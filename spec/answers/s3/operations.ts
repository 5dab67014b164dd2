/**
 * Every operation, by whom it may be and may not be asked, and every way to name none or two at once.
 * Proves: DO-NOT-01, DO-NOT-05, DO-NOT-07, DO-NOT-10, DO-NOT-11, DO-NOT-12, DO-NOT-16, RES-AUD-06, RES-AUD-16,
 * STA-AUD-01, EVT-AUD-04, ERR-S3X-03, ERR-S3X-04, ERR-S3X-07.
 */
import type { Block } from '../block.ts'
import type { Talk } from '../talk.ts'
import { makeBucket } from './helpers.ts'
import { METHODS, OPERATION_ROWS, SUBRESOURCES } from './operation-rows.ts'

async function prepare(talk: Talk): Promise<void> {
  await makeBucket(talk)
  await talk.s3('PUT', `/${talk.bucket}/key`, { body: 'bytes' })
}

function rowOf(row: string, bucket: string): { method: string; target: string; headers: string[] } {
  const [line = '', ...headers] = row.split('|').map((text) => text.replaceAll(/\bbucket\b/g, bucket))
  const [method = '', target = ''] = line.split(' ')
  return { method, target, headers }
}

async function everyOperation(talk: Talk): Promise<void> {
  await prepare(talk)
  for (const row of OPERATION_ROWS) {
    const { method, target, headers } = rowOf(row, talk.bucket)
    await talk.s3(method, target, { headers })
  }
}

async function everyOperationUnsigned(talk: Talk): Promise<void> {
  await prepare(talk)
  for (const row of OPERATION_ROWS) {
    const { method, target, headers } = rowOf(row, talk.bucket)
    await talk.s3(method, target, { headers, as: null })
  }
}

async function everyOperationElsewhere(talk: Talk): Promise<void> {
  for (const row of OPERATION_ROWS) {
    const { method, target, headers } = rowOf(row, `${talk.block}-not-there`)
    await talk.s3(method, target, { headers })
  }
  // The bucket is looked for before the body and its headers are judged.
  const key = `/${talk.block}-not-there/key`
  await talk.s3('PUT', key, { body: 'x', headers: ['content-md5: x'] })
  await talk.s3('PUT', key, { headers: ['x-amz-copy-source: x'] })
  await talk.s3('DELETE', `${key}?versionId=%20`)
  await talk.s3('GET', `/${talk.block}-not-there?list-type=2&max-keys=x`)
}

async function everyMethod(talk: Talk): Promise<void> {
  await prepare(talk)
  const targets = [
    '/?prefix=none',
    `/${talk.bucket}`,
    `/${talk.bucket}/`,
    `/${talk.bucket}/key`,
    `/${talk.bucket}?cors`,
  ]
  for (const target of [...targets, `/${talk.bucket}/key?retention`]) {
    for (const method of METHODS.filter((each) => each !== 'DELETE')) await talk.s3(method, target)
  }
}

async function pairsOfSubresources(talk: Talk): Promise<void> {
  await prepare(talk)
  for (const path of [`/${talk.bucket}`, `/${talk.bucket}/key`]) {
    for (const one of SUBRESOURCES) {
      const other = talk.random.pick(SUBRESOURCES)
      await talk.s3('GET', `${path}?${one}&${other}`)
      await talk.s3('PUT', `${path}?${one}&${talk.random.pick(SUBRESOURCES)}`)
      await talk.s3('GET', `${path}?${one}=value&unknown=1`)
      await talk.s3('GET', `${path}?${one.toUpperCase()}`)
      await talk.s3('HEAD', `${path}?${one}`)
    }
  }
}

export const OPERATION_BLOCKS: readonly Block[] = [
  { name: 's3-operations', run: everyOperation },
  { name: 's3-operations-unsigned', run: everyOperationUnsigned },
  { name: 's3-operations-elsewhere', run: everyOperationElsewhere },
  { name: 's3-methods', run: everyMethod },
  { name: 's3-subresources', run: pairsOfSubresources },
]
