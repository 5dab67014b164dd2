/** The lock of checkpoints as an operator has it: two servers, a data directory that was put back, and what it says then. */
import { cpSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { CreateBucketCommand, GetObjectCommand } from '@aws-sdk/client-s3'
import { test } from 'tap'
import { ApiClient, basic } from '../support/api-client.ts'
import { startProcess } from '../support/server-process.ts'
import { ACCESS_KEY, SECRET_KEY } from '../support/test-clients.ts'
import { run } from './command-runner.ts'
import { startInThread } from '../support/test-server.ts'

const LOOK_MILLISECONDS = 50

interface Status {
  readonly checkpoints: {
    readonly origin: string | null
    readonly last_size: number | null
    readonly refusal: string | null
    readonly refusal_code: string | null
  }
}

test('T3 a server with its data directory put back says CHECKPOINT_ROLLBACK, and serves', async (t) => {
  const locks = await startInThread()
  await locks.s3.send(new CreateBucketCommand({ Bucket: 'locks' }))
  const root = t.testdir({ data: {} })
  const dataDirectory = join(root, 'data')
  const settings = (origin: string) => ({
    OBJECT_STORE_CHECKPOINTS_INTERVAL_SECONDS: '1',
    OBJECT_STORE_CHECKPOINTS_ORIGIN: origin,
    OBJECT_STORE_CHECKPOINTS_LOCK: 's3://locks/of',
    OBJECT_STORE_CHECKPOINTS_LOCK_ENDPOINT: locks.endpoint,
    OBJECT_STORE_CHECKPOINTS_LOCK_ACCESS_KEY: locks.accessKey,
    OBJECT_STORE_CHECKPOINTS_LOCK_SECRET_KEY: locks.secretKey,
  })
  const start = async (origin = 'spec.store') => {
    const server = await startProcess({ dataDirectory, environment: settings(origin) })
    const api = ApiClient.of(server.apiEndpoint, basic(ACCESS_KEY, SECRET_KEY))
    const until = async (holds: (status: Status['checkpoints']) => boolean): Promise<Status['checkpoints']> => {
      for (;;) {
        const { checkpoints } = await api.get<Status>('GET', '/storage/status')
        if (holds(checkpoints)) return checkpoints
        await pause(LOOK_MILLISECONDS)
      }
    }
    return { server, until }
  }
  /** Of the checkpoint that the lock holds: what a server has signed may not have come there yet. */
  const heldSize = async (): Promise<number> => {
    const { Body } = await locks.s3.send(new GetObjectCommand({ Bucket: 'locks', Key: `of/${origin}` }))
    return Number((await Body?.transformToString())?.split('\n')[1])
  }
  const first = await start()
  const { origin } = await first.until(({ last_size }) => last_size !== null)
  await first.server.terminate()
  cpSync(dataDirectory, join(root, 'copy'), { recursive: true })

  const second = await start()
  await second.server.s3.send(new CreateBucketCommand({ Bucket: 'lost' }))
  // A checkpoint without this record may be of the copy as well, and no rollback.
  const created = (await second.server.journal()).findLast(({ changes }) => changes[0]?.name === 'bucket.created')
  if (created === undefined) throw new Error('no record has the bucket')
  // A record that came while one was signed waits for the next: a question is a record.
  while ((await heldSize()) <= created.sequence) {
    await second.until(() => true)
    await pause(LOOK_MILLISECONDS)
  }
  const lost = await heldSize()
  await second.server.kill9()
  rmSync(dataDirectory, { recursive: true })
  renameSync(join(root, 'copy'), dataDirectory)

  const doctor = await run(['server', 'doctor', '--json'], {
    environment: { ...settings('spec.store'), OBJECT_STORE_DATA_DIR: dataDirectory },
  })
  t.match(
    doctor.stdout,
    /"check":\s*"checkpoint lock",\s*"status":\s*"ok",\s*"detail":\s*"s3:\/\/locks\/of holds a checkpoint of/,
  )
  t.notMatch(doctor.stdout + doctor.stderr, /the\+secret/)

  const third = await start()
  await third.server.s3.send(new CreateBucketCommand({ Bucket: 'goes-on' }))
  const status = await third.until(({ refusal_code }) => refusal_code !== null)
  t.ok(Number(status.last_size) < lost, `${status.last_size} of ${lost}`)
  t.match(status, { refusal_code: 'CHECKPOINT_ROLLBACK', refusal: /lock s3:\/\/locks\/of has seen/ })
  await third.server.s3.send(new CreateBucketCommand({ Bucket: 'goes-on-still' }))
  await third.server.terminate()
  const told = () => third.server.log.filter((text) => text.includes('"code":"CHECKPOINT_ROLLBACK"'))
  while (told().length === 0) await pause(LOOK_MILLISECONDS)
  t.equal(told().length, 1, 'the log has it once')
  t.notMatch(third.server.log.join('\n'), new RegExp(SECRET_KEY.replace(/[+/]/g, '.')))

  const renamed = await start('spec.store.2')
  const anew = await renamed.until((one) => one.origin !== origin)
  t.match(anew, { refusal: null, refusal_code: null })
  await renamed.server.stop()
  const { Body } = await locks.s3.send(new GetObjectCommand({ Bucket: 'locks', Key: `of/${anew.origin}` }))
  t.match(await Body?.transformToString(), new RegExp(`^${anew.origin}\n`))
  await locks.stop()
})
