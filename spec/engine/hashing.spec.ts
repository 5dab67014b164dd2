/** Hashing of large bodies in threads of their own: against `node:crypto`, and what happens when such a thread ends. */
import { createHash, randomBytes } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { test } from 'tap'
import { BodyHashing, type HashedBody, HashThreadError } from '../../engine/hashing/body-hashing.ts'
import { copyInto } from '../../engine/hashing/copy-into.ts'
import type { HashRequest } from '../../engine/hashing/hash-messages.ts'
import { HashThreads } from '../../engine/hashing/hash-threads.ts'
import { LANES, Md5Lanes, Md5State } from '../../engine/hashing/md5-lanes.ts'
import { BLOCK_BYTES, STEP_BYTES } from '../../engine/hashing/md5-module.ts'
import { md5Of } from '../support/commands.ts'
import { bodyHashing } from '../support/hash-ports.ts'

const PIECE_BYTES = 64 * 1024

const digestsOf = (bytes: Buffer) => ({
  md5: createHash('md5').update(bytes).digest(),
  sha256: createHash('sha256').update(bytes).digest(),
})

test('MD5 of one to eight messages at a time is that of each of them', async (t) => {
  const lanes = new Md5Lanes()
  for (let count = 1; count <= LANES; count += 1) {
    for (const blocks of [1, 2, 7, STEP_BYTES / BLOCK_BYTES]) {
      const length = blocks * BLOCK_BYTES
      // One buffer, none of whose parts is aligned; another rest for each message.
      const messages = Array.from({ length: count }, (_, lane) => randomBytes(1 + 2 * length + lane * 9).subarray(1))
      const states = messages.map(() => new Md5State())
      for (const at of [0, length]) {
        lanes.update(
          messages.map((bytes, lane) => ({ state: states[lane] as Md5State, bytes, at })),
          length,
        )
      }
      for (const [lane, bytes] of messages.entries()) {
        const digest = lanes.digest(states[lane] as Md5State, bytes.subarray(2 * length))
        t.equal(digest.toString('hex'), md5Of(bytes), `message ${lane} of ${count}, ${bytes.length} bytes`)
      }
    }
  }
})

test('MD5 ends right after every number of bytes in the last block', async (t) => {
  const lanes = new Md5Lanes()
  for (let length = 0; length < 2 * BLOCK_BYTES; length += 1) {
    const bytes = randomBytes(length)
    const whole = length - (length % BLOCK_BYTES)
    const state = new Md5State()
    if (whole > 0) lanes.update([{ state, bytes, at: 0 }], whole)
    t.equal(lanes.digest(state, bytes.subarray(whole)).toString('hex'), md5Of(bytes), `${length} bytes`)
  }
})

const zeros = () => ({ state: new Md5State(), bytes: Buffer.alloc(2 * STEP_BYTES), at: 0 })

test('MD5 refuses what its memory has no room for', async (t) => {
  const lanes = new Md5Lanes()
  for (const length of [0, 1, BLOCK_BYTES + 1, STEP_BYTES + BLOCK_BYTES]) {
    t.throws(() => lanes.update([zeros()], length), RangeError, `${length} bytes`)
  }
  t.throws(() => lanes.update(Array.from({ length: LANES + 1 }, zeros), BLOCK_BYTES), RangeError)
})

test('bytes are copied into shared memory whatever their place', async (t) => {
  const target = Buffer.from(new SharedArrayBuffer(100))
  const source = randomBytes(40)
  for (const [from, to, at] of [
    [0, 40, 0],
    [3, 40, 8],
    [5, 6, 99],
    [7, 7, 3],
    [0, 40, 60],
  ] as const) {
    const before = Buffer.from(target)
    copyInto(target, source.subarray(from, to), at)
    before.set(source.subarray(from, to), at)
    t.ok(target.equals(before), `${from} to ${to} at ${at}`)
  }
})

/** Sends a body a piece at a time, at most two of them on the way. */
async function send(hashing: BodyHashing, body: HashedBody, bytes: Buffer): Promise<void> {
  let previous = Promise.resolve()
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
    const part = bytes.subarray(at, at + PIECE_BYTES)
    const piece = hashing.takePiece()
    copyInto(piece.bytes, part, 0)
    const current = body.update(piece, part.length).then(() => hashing.releasePiece(piece))
    await previous
    previous = current
  }
  await previous
}

test('bodies of every length are hashed side by side, each for itself', async (t) => {
  const hashing = bodyHashing(PIECE_BYTES)
  const other = bodyHashing(PIECE_BYTES)
  const lengths = [0, 1, 63, 64, 65, PIECE_BYTES - 1, PIECE_BYTES, PIECE_BYTES + 1, 3 * PIECE_BYTES + 100]
  const bodies = [...lengths, ...lengths, 40 * PIECE_BYTES + 7, 17 * PIECE_BYTES].map((length) => randomBytes(length))
  await Promise.all(
    bodies.map(async (bytes, index) => {
      // Two threads, whose bodies and pieces have the same numbers.
      const mine = index % 2 === 0 ? hashing : other
      const body = mine.begin()
      await send(mine, body, bytes)
      t.same(await body.digests(), digestsOf(bytes), `${bytes.length} bytes`)
    }),
  )
  hashing.close()
  other.close()
})

test('a body that nobody wants does not change the others', async (t) => {
  const hashing = bodyHashing(PIECE_BYTES)
  const bytes = randomBytes(5 * PIECE_BYTES + 5)
  const [dropped, kept] = [hashing.begin(), hashing.begin()]
  await Promise.all([send(hashing, dropped, bytes.subarray(0, PIECE_BYTES)), send(hashing, kept, bytes)])
  dropped.drop()
  t.same(await kept.digests(), digestsOf(bytes))
  hashing.close()
})

test('whoever cannot wait blocks until a piece is read, and may use it again at once', async (t) => {
  const hashing = bodyHashing(PIECE_BYTES)
  const bytes = randomBytes(6 * PIECE_BYTES + 50)
  const body = hashing.begin()
  const piece = hashing.takePiece()
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
    const part = bytes.subarray(at, at + PIECE_BYTES)
    copyInto(piece.bytes, part, 0)
    body.updateNow(piece, part.length)
  }
  t.same(await body.digests(), digestsOf(bytes))
  hashing.close()
})

test('free pieces are bounded, and what is used again hashes as before', async (t) => {
  const hashing = bodyHashing(PIECE_BYTES)
  const taken = Array.from({ length: 40 }, () => hashing.takePiece())
  const bytes = randomBytes(taken.length * PIECE_BYTES)
  for (let round = 0; round < 2; round += 1) {
    const body = hashing.begin()
    await Promise.all(
      taken.map((piece, index) => {
        copyInto(piece.bytes, bytes.subarray(index * PIECE_BYTES, (index + 1) * PIECE_BYTES), 0)
        return body.update(piece, PIECE_BYTES)
      }),
    )
    t.same(await body.digests(), digestsOf(bytes))
    for (const piece of taken) hashing.releasePiece(piece)
    const known = new Set(taken)
    const again = taken.map(() => hashing.takePiece())
    t.equal(again.filter((piece) => known.has(piece)).length, 32)
    taken.splice(0, taken.length, ...again)
  }
  hashing.close()
})

test('an odd piece that is not the last of its body ends the thread', async (t) => {
  const { failures, threads } = hashThreads()
  const hashing = new BodyHashing(threads.connect(), PIECE_BYTES, () => threads.start())
  const body = hashing.begin()
  const piece = hashing.takePiece()
  await body.update(piece, 10)
  await t.rejects(body.update(piece, 10), HashThreadError)
  await t.rejects(body.digests(), HashThreadError)
  await told(failures)
  t.match(failures[0], /^the thread hash-0, which hashes uploads, failed: only the last bytes of a body/)
  await threads.stop()
})

test('a thread that fails is told by name, and everything that waits for it fails', async (t) => {
  const { failures, threads } = hashThreads()
  const ports = threads.connect()
  const hashing = new BodyHashing(ports, PIECE_BYTES, () => threads.start())
  const bytes = randomBytes(3 * PIECE_BYTES)
  const body = hashing.begin()
  await send(hashing, body, bytes)
  // It has no memory for this piece. On the same port it comes before the question for the digest.
  const request: HashRequest = { kind: 'update', body: 0, job: 0, piece: 1000, length: 1 }
  ports.sha256[0]?.postMessage(request)
  await t.rejects(body.digests(), HashThreadError)
  await t.rejects(body.update(hashing.takePiece(), PIECE_BYTES), HashThreadError, 'nothing more is taken')
  t.throws(() => body.updateNow(hashing.takePiece(), PIECE_BYTES), HashThreadError)
  await told(failures)
  t.match(failures[0], /^the thread hash-1, which hashes uploads, failed: /)
  await threads.stop()
})

test('threads are started for the first body, and serve who connected before and after', async (t) => {
  const { failures, threads } = hashThreads()
  const hashings = [threads.connect(), threads.connect()].map(
    (ports) => new BodyHashing(ports, PIECE_BYTES, () => threads.start()),
  )
  await setTimeout(50)
  t.same(
    threads.threads.map(({ activeMilliseconds }) => activeMilliseconds()),
    [0, 0],
    'none runs yet',
  )
  const bytes = randomBytes(3 * PIECE_BYTES + 7)
  hashings.push(new BodyHashing(threads.connect(), PIECE_BYTES, () => threads.start()))
  const first = (hashings[0] as BodyHashing).begin()
  hashings.push(new BodyHashing(threads.connect(), PIECE_BYTES, () => threads.start()))
  await send(hashings[0] as BodyHashing, first, bytes)
  t.same(await first.digests(), digestsOf(bytes))
  for (const hashing of hashings) {
    const body = hashing.begin()
    await send(hashing, body, bytes)
    t.same(await body.digests(), digestsOf(bytes))
    hashing.close()
  }
  t.ok(threads.threads.every(({ activeMilliseconds }) => activeMilliseconds() > 0))
  await threads.stop()
  t.same(failures, [])
})

test('a thread that starts them and blocks right away is served', async (t) => {
  const { failures, threads } = hashThreads()
  const hashing = new BodyHashing(threads.connect(), PIECE_BYTES, () => threads.start())
  const bytes = randomBytes(2 * PIECE_BYTES)
  const body = hashing.begin()
  for (const at of [0, PIECE_BYTES]) {
    const piece = hashing.takePiece()
    copyInto(piece.bytes, bytes.subarray(at, at + PIECE_BYTES), 0)
    body.updateNow(piece, PIECE_BYTES)
  }
  t.same(await body.digests(), digestsOf(bytes))
  await threads.stop()
  t.same(failures, [])
})

for (const [how, program, message] of [
  ['ends while it starts', new URL('file:///no/such/program.js'), /^the thread hash-\d, .* failed: Cannot find module/],
  [
    'cannot be made',
    new URL('https://127.0.0.1/program.js'),
    /^the thread hash-\d, .* failed: The URL must be of scheme/,
  ],
] as const) {
  test(`a thread that ${how} is told by name, and what waits for it fails`, async (t) => {
    const { failures, threads } = hashThreads(program)
    const hashing = new BodyHashing(threads.connect(), PIECE_BYTES, () => threads.start())
    const body = hashing.begin()
    const settled = await Promise.allSettled([body.update(hashing.takePiece(), PIECE_BYTES), body.digests()])
    for (const result of settled) t.match(result, { status: 'rejected', reason: HashThreadError })
    await t.rejects(body.update(hashing.takePiece(), PIECE_BYTES), HashThreadError, 'nothing more is taken')
    await told(failures)
    t.match(failures[0], message)
    await threads.stop()
  })
}

test('threads that are stopped before anybody needed them are never started', async (t) => {
  const { failures, threads } = hashThreads()
  const hashing = new BodyHashing(threads.connect(), PIECE_BYTES, () => threads.start())
  await threads.stop()
  const body = hashing.begin()
  await t.rejects(body.update(hashing.takePiece(), PIECE_BYTES), HashThreadError)
  t.same(
    threads.threads.map(({ activeMilliseconds }) => activeMilliseconds()),
    [0, 0],
  )
  t.same(failures, [])
})

test('threads that are stopped say nothing, and end what is under way', async (t) => {
  const { failures, threads } = hashThreads()
  const hashing = new BodyHashing(threads.connect(), PIECE_BYTES, () => threads.start())
  const body = hashing.begin()
  const piece = hashing.takePiece()
  const updates = Array.from({ length: 3 }, () => body.update(piece, PIECE_BYTES))
  const settled = Promise.allSettled([...updates, body.digests()])
  await threads.stop()
  await settled
  await t.rejects(body.update(piece, PIECE_BYTES), HashThreadError)
  t.same(failures, [])
})

test('there is one thread for MD5, and for SHA-256 one for two processors, at least one and at most four', async (t) => {
  for (const [processors, sha256] of [
    [1, 1],
    [2, 1],
    [4, 2],
    [64, 4],
  ] as const) {
    const threads = new HashThreads((message) => t.fail(message), processors)
    const ports = threads.connect()
    t.same([ports.md5.length, ports.sha256.length], [1, sha256], `${processors} processors`)
    t.same(
      threads.threads.map(({ name }) => name),
      Array.from({ length: 1 + sha256 }, (_, index) => `hash-${index}`),
    )
    const hashing = new BodyHashing(ports, PIECE_BYTES, () => threads.start())
    const bytes = randomBytes(100)
    for (let index = 0; index < 5; index += 1) {
      const body = hashing.begin()
      await send(hashing, body, bytes)
      t.same(await body.digests(), digestsOf(bytes))
    }
    await threads.stop()
  }
})

function hashThreads(program?: URL): { readonly failures: string[]; readonly threads: HashThreads } {
  const failures: string[] = []
  return { failures, threads: new HashThreads((message) => failures.push(message), 2, program) }
}

/** Waits until something is told. */
async function told(failures: readonly string[]): Promise<void> {
  while (failures.length === 0) await setTimeout(5)
}
