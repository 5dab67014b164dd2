/** Witnesses that cosign checkpoints, and every way in which one does not. */
import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'tap'
import { millisecondsOf } from '../../engine/brands.ts'
import { SigningKey } from '../../engine/keys/signing-key.ts'
import type { CheckpointState } from '../../engine/checkpoints/state.ts'
import { readCheckpointNote, verifierKeyText } from '../../engine/checkpoints/checkpoint-note.ts'
import { cosignersOf, readWitnessPolicy } from '../../engine/checkpoints/witness-policy.ts'
import { noteOf } from '../../projections/checkpoints/checkpoint-log.ts'
import type { OutsideMemory, Seen } from '../../workers/checkpoints/outside-memory.ts'
import { CheckpointPublication } from '../../workers/checkpoints/publish-checkpoints.ts'
import { CheckpointWitnesses } from '../../workers/checkpoints/witness-checkpoints.ts'
import { signingOf } from '../support/checkpoint-signing.ts'
import { createBucket } from '../support/commands.ts'
import { openTestStore } from '../support/test-store.ts'
import { until } from '../support/waiting.ts'
import { startWitness, type WitnessBehaviour, type WitnessServer } from '../support/witness-server.ts'

const KEY = new SigningKey(Buffer.alloc(32, 3))
let now = Date.UTC(2026, 0, 1)

function body(response: Parameters<WitnessBehaviour>[0], status: number, text: string, type = 'text/plain'): void {
  response.writeHead(status, { 'content-type': type }).end(text)
}

/** The witnesses of a spec; the log is known to them once it has signed. */
async function witnessesIn(root: string, count: number) {
  let logKey = verifierKeyText('nobody', KEY.publicKey)
  const start = (at: number) =>
    startWitness({
      name: `w.example/${at}`,
      seed: at + 50,
      file: join(root, `witness-${at}.json`),
      logKey: () => logKey,
      seconds: () => Math.floor(now / 1000),
    })
  const servers: WitnessServer[] = []
  for (let at = 0; at < count; at += 1) servers.push(await start(at))
  return {
    servers,
    start,
    know: (origin: string) => void (logKey = verifierKeyText(origin, KEY.publicKey)),
    policy: (...lines: readonly string[]) =>
      readWitnessPolicy(
        Buffer.from([...servers.map(({ vkey, url }, at) => `witness w${at} ${vkey} ${url}`), ...lines, ''].join('\n')),
      ),
    stop: () => Promise.all(servers.map((server) => server.stop())),
  }
}

type Witnesses = Awaited<ReturnType<typeof witnessesIn>>

/** A store that signs, with these witnesses. */
async function storeIn(root: string, { policy, servers }: Witnesses, lines: readonly string[], isRequired = false) {
  let timer = 0
  const store = await openTestStore(root, { clock: () => now * 1000 })
  const [failures, contradictions]: [string[], (Seen & { by: string })[]] = [[], []]
  let witnesses: CheckpointWitnesses
  const signing = signingOf(store, {
    clock: () => now,
    key: KEY,
    withholds: () => isRequired,
    memories: Array.from({ length: servers.length + (isRequired ? 1 : 0) }, (_, at) => ({
      name: at < servers.length ? `witness w${at}` : 'a quorum of the witnesses',
      isRequired: at === servers.length,
      seen: (origin: string, own: CheckpointState | undefined) =>
        (witnesses.memories[at] as OutsideMemory).seen(origin, own),
    })),
  })
  const begin = (timeoutMilliseconds = 20_000) => {
    witnesses = new CheckpointWitnesses(store.client, signing.reader, policy(...lines), {
      isRequired,
      key: () => KEY,
      timeoutMilliseconds,
      clock: () => millisecondsOf(now),
      timer: () => timer,
      consistencyOf: (checkpoint, old) => signing.log.consistencyOf(checkpoint, old),
      onFailure: (name, error) => void failures.push(`${name}: ${(error as Error).message}`),
      onContradiction: (by, seen) => {
        contradictions.push({ ...seen, by })
        signing.worker.contradicted(by, seen)
      },
    })
    return witnesses
  }
  begin()
  const publication = () =>
    new CheckpointPublication(store.client, signing.reader, isRequired ? [witnesses.requirement] : [])
  return {
    store,
    signing,
    failures,
    contradictions,
    begin,
    get last() {
      return signing.reader.state().last as CheckpointState
    },
    /** Asks every witness once that is not content, and waits for what comes of it. */
    async round() {
      timer += 3_600_000
      await witnesses.step()
      await witnesses.settled()
      await witnesses.step()
      await publication().step()
    },
    async signNext() {
      now += 3_600_000
      await store.client.execute(createBucket(`b${now}`))
      await signing.settle().catch((error: unknown) => void failures.push((error as Error).message))
      return signing.reader.state().last
    },
    async close() {
      await witnesses.close()
      await signing.close()
      await store.close(true)
    },
  }
}

test('witnesses cosign each checkpoint; the note and its receipts have it, and nobody is asked twice', async (t) => {
  const root = t.testdir()
  const all = await witnessesIn(root, 2)
  const log = await storeIn(join(root, 'store'), all, ['group g all w0 w1', 'quorum g'])
  await log.signNext()
  all.know(log.last.origin)
  for (let round = 0; round < 4; round += 1) {
    await log.round()
    const { size, origin } = log.last
    const note = readCheckpointNote(log.signing.log.noteOf(log.last))
    t.same(
      cosignersOf(all.policy('quorum none'), note).map(({ witness }) => witness.name),
      ['w0', 'w1'],
    )
    t.match(log.signing.reader.receiptsOf(size), [
      { kind: 'cosignature', giver: /^w[01]$/, assertedMicroseconds: Math.floor(now / 1000) * 1_000_000 },
      { kind: 'cosignature' },
    ])
    t.same(
      all.servers.map((server) => server.cosigned(origin)),
      [size, size],
    )
    const asked = all.servers.map(({ requests }) => requests.length)
    await log.round()
    t.same(
      all.servers.map(({ requests }) => requests.length),
      asked,
    )
    await log.signNext()
  }
  t.ok(
    all.servers[0]?.requests.some(({ lines }) => lines > 0),
    'with a proof',
  )
  t.same([log.contradictions, log.failures], [[], []])
  await log.close()
  await all.stop()
})

test('what a witness answers otherwise is told by name, nothing is kept, and the next attempt is taken', async (t) => {
  const root = t.testdir()
  const all = await witnessesIn(root, 1)
  const log = await storeIn(join(root, 'store'), all, ['quorum w0'], true)
  const server = all.servers[0] as WitnessServer
  await log.signNext()
  t.match(log.failures.shift(), /quorum of the witnesses cannot be asked/, 'it does not know the log')
  t.equal(log.signing.reader.state().last, undefined, 'required: nothing is signed')
  all.know(`spec.log/${log.store.deploymentId}`)
  await log.begin().step()
  await log.signNext()
  const { size } = log.last
  const cases: readonly (readonly [WitnessBehaviour, RegExp])[] = [
    [(response) => body(response, 404, ''), /does not know this log/],
    [(response) => body(response, 403, ''), /does not accept the signature/],
    [(response) => body(response, 500, ''), /HTTP 500/],
    [(response) => response.writeHead(302, { location: '/x' }).end(), /HTTP 302/],
    [(response) => body(response, 409, '1\n'), /HTTP 409/],
    [(response) => body(response, 409, '-1\n', 'text/x.tlog.size'), /has no size/],
    [(response) => body(response, 409, '1\n', 'text/x.tlog.size'), /says twice/],
    [(response) => body(response, 200, ''), /no signature lines/],
    [(response) => body(response, 200, 'hello\n'), /no signature lines/],
    [(response) => body(response, 200, 'x'.repeat(17_000)), /longer than 16384 bytes/],
    [(response, _, note) => body(response, 200, server.cosign(note, undefined, 'stranger')), /no valid cosignature/],
    [(response) => body(response, 200, server.cosign(noteOf({ ...log.last, size: 1 }))), /no valid cosignature/],
    [(response, _, note) => body(response, 200, server.cosign(note, 1)), /has the time 1,/],
    [(response, _, note) => body(response, 200, server.cosign(note, Math.floor(now / 1000) + 700)), /has the time/],
    [(response) => response.destroy(), /hang up|ECONNRESET/],
  ]
  for (const [behaviour, message] of cases) {
    server.behaviour = behaviour
    await log.round()
    t.match(log.failures.at(-1), message)
    t.match(log.failures.at(-1), /^w0: /)
  }
  t.same(log.signing.reader.receiptsOf(size), [])
  t.equal(log.signing.reader.last(), undefined, 'required: nothing is shown')
  server.behaviour = (response, _, note) =>
    body(response, 200, [server.cosign(note, undefined, 'stranger'), server.cosign(note), server.cosign(note)].join(''))
  await log.round()
  t.equal(log.signing.reader.receiptsOf(size).length, 1, 'of several lines its own, once')
  t.equal(log.signing.reader.last()?.size, size)
  t.same(log.contradictions, [])
  await log.close()
  await all.stop()
})

test('a quorum is enough; a witness that is slow or gone holds up nobody', async (t) => {
  const root = t.testdir()
  const all = await witnessesIn(root, 3)
  const log = await storeIn(join(root, 'store'), all, ['group g 2 w0 w1 w2', 'quorum g'], true)
  all.know(`spec.log/${log.store.deploymentId}`)
  const [one, two, three] = all.servers as [WitnessServer, WitnessServer, WitnessServer]
  await log.signNext()
  const size = log.last.size
  // Slower than the first, however slow that is.
  two.behaviour = (response) =>
    void until(() => one.cosigned(log.last.origin) === size).then(() => body(response, 500, ''))
  await three.stop()
  await log.round()
  t.equal(log.signing.reader.last(), undefined, 'one of three is no quorum')
  t.match(log.failures.toSorted(), [/^w1: .*HTTP 500/, /^w2: .*ECONNREFUSED/])
  t.equal(log.signing.reader.receiptsOf(size).length, 1, 'the answer of the first is kept')
  two.behaviour = () => undefined
  const impatient = log.begin(50)
  await log.round()
  t.match(log.failures.slice(2).toSorted(), [/^w1: no answer within/, /^w2: .*ECONNREFUSED/])
  t.equal(impatient.facts.failures, 2)
  await log.signNext()
  t.equal(log.last.size, size, 'nothing is signed while one is withheld')
  two.behaviour = undefined
  log.begin()
  await log.round()
  t.equal(log.signing.reader.last()?.size, size, 'two are')
  t.equal(one.cosigned(log.last.origin), size)
  await log.close()
  await all.stop()
})

test('required: one that says that it has another size than the one it names has said nothing', async (t) => {
  const root = t.testdir()
  const all = await witnessesIn(root, 1)
  const log = await storeIn(join(root, 'store'), all, ['quorum w0'], true)
  const server = all.servers[0] as WitnessServer
  server.behaviour = (response) => body(response, 409, '0\n', 'text/x.tlog.size')
  t.equal(await log.signNext(), undefined, 'nothing is signed')
  t.match(log.failures, [/only 0 of 1 witnesses/])
  await log.close()
  await all.stop()
})

test('the store is killed between cosignature and receipt, and the witness restarts: both go on', async (t) => {
  const root = t.testdir()
  const all = await witnessesIn(root, 1)
  const first = await storeIn(join(root, 'store'), all, ['quorum w0'])
  await first.signNext()
  all.know(first.last.origin)
  await first.round()
  await first.signNext()
  const server = all.servers[0] as WitnessServer
  // It cosigns, and the answer is lost with the process.
  server.behaviour = (response, honest) => {
    response.end = () => response.destroy()
    honest()
  }
  await first.round()
  t.equal(server.cosigned(first.last.origin), first.last.size)
  t.same(first.signing.reader.receiptsOf(first.last.size), [])
  await first.close()
  await server.stop()
  all.servers[0] = await all.start(0)
  const again = await storeIn(join(root, 'store'), all, ['quorum w0'])
  await again.round()
  t.equal(again.signing.reader.receiptsOf(again.last.size).length, 1)
  t.same([again.failures, again.contradictions], [[], []])
  await again.signNext()
  await again.round()
  t.equal(again.signing.reader.receiptsOf(again.last.size).length, 1)
  await again.close()
  await all.stop()
})

for (const isRequired of [false, true]) {
  test(`an old copy of the data directory signs no more, required: ${isRequired}`, async (t) => {
    const root = t.testdir()
    const all = await witnessesIn(root, 1)
    const [data, copy] = [join(root, 'store'), join(root, 'copy')]
    const first = await storeIn(data, all, ['quorum w0'], isRequired)
    all.know(`spec.log/${first.store.deploymentId}`)
    await first.signNext()
    await first.round()
    await first.close()
    cpSync(data, copy, { recursive: true })
    const second = await storeIn(data, all, ['quorum w0'], isRequired)
    await second.signNext()
    await second.round()
    const seen = second.last.size
    await second.close()
    rmSync(data, { recursive: true })
    cpSync(copy, data, { recursive: true })
    const old = await storeIn(data, all, ['quorum w0'], isRequired)
    const before = old.last.size
    await old.signNext()
    t.equal(old.last.size, before, 'nothing is signed')
    t.match(old.signing.worker.facts, {
      refusalCode: 'CHECKPOINT_ROLLBACK',
      refusal: new RegExp(`witness w0 has seen a checkpoint of ${seen} records`),
    })
    await old.store.client.execute(createBucket('writes-go-on'))
    await old.close()
    await all.stop()
  })
}

test('best effort: one that was gone at the start and has seen another tree ends signing when it is back', async (t) => {
  const root = t.testdir()
  const all = await witnessesIn(root, 1)
  const [data, copy] = [join(root, 'store'), join(root, 'copy')]
  const server = all.servers[0] as WitnessServer
  const first = await storeIn(data, all, ['quorum w0'])
  all.know(`spec.log/${first.store.deploymentId}`)
  await first.signNext()
  await first.round()
  await first.close()
  cpSync(data, copy, { recursive: true })
  const second = await storeIn(data, all, ['quorum w0'])
  await second.signNext()
  await second.round()
  const seen = second.last.size
  await second.close()
  const old = await storeIn(copy, all, ['quorum w0'])
  server.behaviour = (response) => response.destroy()
  for (let more = 0; more < 3; more += 1) await old.signNext()
  t.equal(old.signing.worker.facts.refusal, undefined, 'it goes on without it')
  server.behaviour = undefined
  await old.round()
  t.match(old.contradictions, [{ by: 'witness w0', size: seen }])
  t.match(old.failures.at(-1), /it has seen another tree/)
  const { size } = old.last
  await old.signNext()
  t.equal(old.last.size, size)
  t.match(old.signing.worker.facts, { refusalCode: 'CHECKPOINT_ROLLBACK' })
  await old.close()
  await all.stop()
})
