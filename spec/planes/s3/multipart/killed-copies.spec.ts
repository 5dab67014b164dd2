/** A server that is killed while it copies a part. */
import { readdirSync, rmSync } from 'node:fs'
import tap, { test } from 'tap'
import { StorePaths } from '../../../../engine/disk/store-paths.ts'
import { runJournalCommand } from '../../../support/journals/journal-command-run.ts'
import {
  complete,
  createUpload,
  partTarget,
  payloadFileNames,
  uploadTarget,
  uploadWhole,
} from '../../../support/multipart.ts'
import { sampleBytes } from '../../../support/sample-bytes.ts'
import { startProcess, temporaryDirectory } from '../../../support/test-server.ts'
import { isDone } from '../../../support/wire-assertions.ts'
import { elements, firstElement } from '../../../support/wire-client.ts'

const dataDirectory = temporaryDirectory()
const paths = new StorePaths(dataDirectory)
tap.teardown(() => rmSync(dataDirectory, { recursive: true, force: true }))
const environment = { OBJECT_STORE_S3_EXTENSIONS: 'upload-part-copy' }
const LARGE = sampleBytes(24 * 1024 ** 2)
const source = ['x-amz-copy-source', '/killed-bucket/source'] as const

test('nothing is left of a copy that was under way, and it can be made again', async (t) => {
  const server = await startProcess({ dataDirectory, environment })
  const target = '/killed-bucket/target'
  await server.raw('PUT', '/killed-bucket')
  await uploadWhole(server, '/killed-bucket/source', [LARGE, LARGE])
  const files = payloadFileNames(paths)
  const upload = await createUpload(server, target)
  const copying = server.raw('PUT', partTarget(target, upload, 1), { headers: [source] }).catch(() => undefined)
  while (readdirSync(paths.uploads).length === 0) await new Promise((resolve) => setImmediate(resolve))
  server.process.kill('SIGKILL')
  await server.kill9()
  t.equal(await copying, undefined, 'it was not answered')
  t.equal(readdirSync(paths.uploads).length, 1, 'a piece of it was on the disk')

  const again = await startProcess({ dataDirectory, environment })
  t.same(elements((await again.raw('GET', uploadTarget(target, upload))).text, 'PartNumber'), [])
  while (readdirSync(paths.uploads).length > 0) await new Promise((resolve) => setTimeout(resolve, 20))
  t.same(payloadFileNames(paths), files)
  const copied = await again.raw('PUT', partTarget(target, upload, 1), { headers: [source] })
  isDone(t, copied, 200, 'copied')
  const etag = (firstElement(copied.text, 'ETag') ?? '').replaceAll('&quot;', '"')
  isDone(t, await complete(again, target, upload, [{ number: 1, etag }]), 200, 'complete')
  t.ok((await again.raw('GET', target)).body.equals(Buffer.concat([LARGE, LARGE])))
  await again.stop()
  const verified = await runJournalCommand(['verify', '--data-dir', dataDirectory])
  t.equal(verified.code, 0, verified.out + verified.error)
})
