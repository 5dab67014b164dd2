import { hash, randomBytes } from 'node:crypto'
import type { Target } from '../bench.ts'
import { inParallel } from '../in-parallel.ts'
import { completion, completionDocument, createUpload, requireCompleted, sendPart } from '../multipart.ts'
import { processorSeconds } from '../process-usage.ts'
import type { Scenario } from '../scenario.ts'

const MEBIBYTE = 1024 ** 2
const PART_MEBIBYTES = 16
/** Parts in flight, all of one upload. */
const PARALLEL_PARTS = 8
const PARTS = 32
const UPLOAD_MEBIBYTES = PARTS * PART_MEBIBYTES
const SECONDS_MINIMUM = 10

export const multipartUpload: Scenario = {
  name: 'multipart-upload',
  title: `Multipart uploads of ${UPLOAD_MEBIBYTES} MiB, one after the other, each part durable`,
  needs: 'endpoint',
  run: (bench) =>
    bench.withTarget(async (target) => {
      const body = randomBytes(PART_MEBIBYTES * MEBIBYTE)
      const md5 = hash('md5', body, 'hex')
      await uploadWhole(target, 'warm-up', PARALLEL_PARTS, body, md5)
      const processorBefore = target.pid === undefined ? 0 : processorSeconds(target.pid)
      const started = performance.now()
      const elapsed = () => (performance.now() - started) / 1000
      const wanted = bench.settings.quick ? bench.settings.seconds : Math.max(SECONDS_MINIMUM, bench.settings.seconds)
      let uploads = 0
      while (elapsed() < wanted) {
        await uploadWhole(target, `upload-${uploads}`, PARTS, body, md5)
        uploads += 1
      }
      const seconds = elapsed()
      const processor = target.pid === undefined ? undefined : processorSeconds(target.pid) - processorBefore
      bench.add({
        name: `multipart-${PART_MEBIBYTES}-mib-c${PARALLEL_PARTS}`,
        label: `Multipart upload, ${PARALLEL_PARTS} parts of ${PART_MEBIBYTES} MiB at once`,
        value: (uploads * UPLOAD_MEBIBYTES) / seconds,
        unit: 'MiB/s',
        processorMicroseconds: processor === undefined ? undefined : (processor * 1_000_000) / (uploads * PARTS),
        limits: ['md5', 'sha256', 'disk-write'],
        note: `${uploads} uploads in ${seconds.toFixed(1)} s, creation and completion included; the client is one Node process`,
      })
    }),
}

/** Creation, parts, completion. */
async function uploadWhole(target: Target, key: string, parts: number, body: Buffer, md5: string): Promise<void> {
  const upload = await createUpload(target, key)
  await inParallel(parts, PARALLEL_PARTS, (index) => sendPart(target, upload, index + 1, body))
  const answer = await target.client.send(completion(upload), completionDocument(parts, md5))
  requireCompleted(answer.body, parts, md5)
}
