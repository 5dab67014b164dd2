import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Bench, Target } from '../bench.ts'
import { runFiller } from '../filler.ts'
import {
  completion,
  completionDocument,
  requireCompleted,
  textOf,
  type Upload,
  UnexpectedAnswerError,
} from '../multipart.ts'
import type { Scenario } from '../scenario.ts'

/** The most that an upload can have, each as small as it may be (S3 API reference, multipart upload limits). */
const PARTS = 10_000
const PART_BYTES = 5 * 1024 ** 2
const UPLOADS = 5
const BUCKET = 'uploads'

/**
 * The parts are written by the engine beforehand, and all of one upload share the bytes of one payload file
 * (fill-uploads.ts). What is measured is what a completion does: to read the document, to hold it against the parts that
 * are there, to write the entry and to apply it. It reads no bytes of parts. As after any upload, the server meanwhile
 * hashes the parts in the background, all 50 GB of them.
 */
export const multipartComplete: Scenario = {
  name: 'multipart-complete',
  title: `CompleteMultipartUpload of ${PARTS.toLocaleString('en')} parts of 5 MiB`,
  needs: 'own server',
  async run(bench) {
    const dataDirectory = join(bench.directory, 'uploads')
    const count = bench.settings.quick ? 1 : UPLOADS
    const keys = Array.from({ length: count }, (_, index) => `upload-${index}`)
    try {
      await runFiller(bench.children, {
        kind: 'uploads',
        dataDirectory,
        masterKey: bench.secrets.masterKey,
        settings: [],
        bucket: BUCKET,
        keys,
        parts: PARTS,
        partBytes: PART_BYTES,
      })
      await bench.withServerOn(dataDirectory, BUCKET, (target) => measureCompletions(bench, target, keys))
    } finally {
      rmSync(dataDirectory, { recursive: true, force: true })
    }
  },
}

async function measureCompletions(bench: Bench, target: Target, keys: readonly string[]): Promise<void> {
  const milliseconds: number[] = []
  for (const key of keys) {
    const upload = await findUpload(target, key)
    const md5 = await md5OfParts(target, upload)
    const document = completionDocument(PARTS, md5)
    const started = performance.now()
    const answer = await target.client.send(completion(upload), document)
    milliseconds.push(performance.now() - started)
    requireCompleted(answer.body, PARTS, md5)
  }
  const shown = milliseconds.map((one) => one.toFixed(0)).join(', ')
  bench.add({
    name: 'complete-10000-parts',
    label: `CompleteMultipartUpload of ${PARTS.toLocaleString('en')} parts`,
    value: Math.max(...milliseconds),
    unit: 'ms',
    note: `the slowest of ${shown} ms; each was the first and only completion of its upload`,
  })
}

async function findUpload({ bucket, client }: Target, key: string): Promise<Upload> {
  const query = [
    ['uploads', ''],
    ['prefix', key],
  ] as const
  const { body } = await client.send({ method: 'GET', path: `/${bucket}`, query })
  return { path: `/${bucket}/${key}`, id: textOf(body, 'UploadId') }
}

async function md5OfParts({ client }: Target, { path, id }: Upload): Promise<string> {
  const query = [
    ['uploadId', id],
    ['part-number-marker', String(PARTS - 1)],
  ] as const
  const { body } = await client.send({ method: 'GET', path, query })
  const etag = /[0-9a-f]{32}/.exec(textOf(body, 'ETag'))?.[0]
  if (etag === undefined) throw new UnexpectedAnswerError(`the last part has no MD5: ${body.slice(0, 300)}`)
  return etag
}
