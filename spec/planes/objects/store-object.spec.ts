/** What is kept of a body whose command did not succeed. */
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type Test, test } from 'tap'
import type { EngineClient } from '../../../engine/client/engine-client.ts'
import { DomainError, EngineUnavailableError } from '../../../engine/errors.ts'
import { RequestJournal } from '../../../planes/exchange/request-journal.ts'
import type { RequestBody } from '../../../planes/http/exchange.ts'
import { IncompletePayloadError, type PayloadStores } from '../../../planes/objects/receive-payload.ts'
import { storeObject } from '../../../planes/objects/store-object.ts'
import { auditOf, createBucket } from '../../support/commands.ts'
import { temporaryDirectory } from '../../support/test-clients.ts'
import { openTestStore, readObject, someBytes, type TestStore } from '../../support/test-store.ts'

const SMALL = Buffer.from('small')
const LARGE = someBytes(100_000)
const INLINE_BYTES_MAXIMUM = 1000
const TRUST = { update: () => undefined, finish: () => undefined }

async function storeFor(t: Test): Promise<TestStore> {
  const root = temporaryDirectory()
  const store = await openTestStore(root)
  t.teardown(async () => {
    await store.close(true)
    rmSync(root, { recursive: true })
  })
  await store.client.execute(createBucket('b'))
  return store
}

function bodyOf(bytes: Buffer): RequestBody {
  return {
    receivedBytes: 0,
    arrival: () => undefined,
    takeArrived: () => undefined,
    readAll: async () => Buffer.from(bytes),
    pipe: async (sink) => {
      await sink(Buffer.from(bytes))
    },
  }
}

/** Stores bytes as the object `k` of a bucket, by an engine that may fail in its own way. */
function put(store: TestStore, bucket: string, bytes: Buffer, length = bytes.length, engine = store.client) {
  const stores: PayloadStores = { uploads: store.uploads, space: store.space, inlineBytesMaximum: INLINE_BYTES_MAXIMUM }
  const journal = new RequestJournal(engine, { audit: () => auditOf('s3:PUT', `bucket:${bucket}/k`) })
  const upload = { journal, body: bodyOf(bytes), length, checks: TRUST }
  const condition = { kind: 'none' } as const
  return storeObject(stores, upload, (stored) => ({
    kind: 'write-object',
    bucket,
    key: 'k',
    ...stored,
    headers: [],
    metadata: [],
    condition,
  }))
}

/** Every file of a payload, arrived or arriving. */
function filesOf({ paths }: TestStore): string[] {
  return [paths.uploads, paths.files].flatMap((directory) =>
    existsSync(directory)
      ? readdirSync(directory, { recursive: true, withFileTypes: true })
          .filter((entry) => entry.isFile())
          .map((entry) => join(entry.parentPath, entry.name))
      : [],
  )
}

/** An engine that takes attempts, and fails at every other command. */
function failingAt(store: TestStore, error: Error): EngineClient {
  return {
    execute: (command) =>
      command.kind === 'record-attempt' ? store.client.execute(command) : Promise.reject<never>(error),
    record: () => undefined,
    recordFailedChange: () => undefined,
  }
}

test('what is stored can be read, small and large', async (t) => {
  const store = await storeFor(t)
  for (const bytes of [Buffer.alloc(0), SMALL, LARGE]) {
    const { received } = await put(store, 'b', bytes)
    t.match(received, { size: bytes.length })
    t.same(await readObject(store, 'b', 'k'), bytes)
  }
})

test('the file of a body is discarded when the rules refuse its command', async (t) => {
  const store = await storeFor(t)
  await t.rejects(put(store, 'no-bucket', LARGE), new DomainError('bucket-not-found', 'no-bucket'))
  await t.rejects(put(store, 'no-bucket', SMALL), new DomainError('bucket-not-found', 'no-bucket'))
  t.same(filesOf(store), [])
})

test('the file of a body is kept after any other failure, when an entry may refer to it', async (t) => {
  const store = await storeFor(t)
  const failures = [new EngineUnavailableError(), new Error('port closed'), new DomainError('command-failed', 'oops')]
  for (const [index, failure] of failures.entries()) {
    await t.rejects(put(store, 'b', LARGE, LARGE.length, failingAt(store, failure)))
    t.equal(filesOf(store).length, index + 1, failure.message)
  }
})

test('a body that ends early leaves nothing', async (t) => {
  const store = await storeFor(t)
  await t.rejects(put(store, 'b', LARGE, LARGE.length + 1), IncompletePayloadError)
  await t.rejects(put(store, 'b', SMALL, SMALL.length + 1), IncompletePayloadError)
  t.same(filesOf(store), [])
})
