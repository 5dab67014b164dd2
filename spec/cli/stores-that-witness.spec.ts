/** Two stores that witness each other over the wire: each cosigns what the other signs, and neither forgets what it saw. */
import { cpSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { test } from 'tap'
import { readCheckpointNote } from '../../engine/checkpoints/checkpoint-note.ts'
import { cosignatureOf, readCosignerKey } from '../../engine/checkpoints/cosignature.ts'
import { verifyJournal } from '../../engine/verify/journal-verifier.ts'
import { StorePaths } from '../../engine/disk/store-paths.ts'
import { type ProcessServer } from '../support/server-process.ts'
import { freePort } from '../support/free-port.ts'
import { signedHistory } from '../support/signed-history.ts'
import { startProcess, temporaryDirectory } from '../support/test-server.ts'

const TOKEN = 'the-system-token-of-the-specs-0123456789'
const LOOKS_MAXIMUM = 300
/** Intervals of checkpoints without a new one, after which two stores are at rest. */
const INTERVALS_OF_REST = 4

interface Keys {
  readonly log: string
  readonly witness: string
}

/** A store with a place, an address and a name that stay when its process ends. */
class Store {
  readonly name: string
  readonly directory = temporaryDirectory()
  readonly port: number
  readonly #masterKey: string
  #server: ProcessServer | undefined
  keys: Keys = { log: '', witness: '' }

  constructor(name: string, port: number, masterKey: string) {
    this.name = name
    this.port = port
    this.#masterKey = masterKey
  }

  get server(): ProcessServer {
    if (this.#server === undefined) throw new Error(`${this.name} does not run`)
    return this.#server
  }

  /** With another store as its witness, and as the witness of that one. */
  async start(other?: Store): Promise<void> {
    const policy = join(this.directory, '..', `${this.name}-policy-${this.port}`)
    if (other !== undefined) {
      const url = `http://127.0.0.1:${other.port}/api/v1/transparency/witness`
      writeFileSync(policy, `witness other ${other.keys.witness} ${url}\nquorum other\n`)
    }
    this.#server = await startProcess({
      dataDirectory: this.directory,
      environment: {
        OBJECT_STORE_API_BIND: `127.0.0.1:${this.port}`,
        OBJECT_STORE_CREDENTIAL_MASTER_KEY: this.#masterKey,
        OBJECT_STORE_MANAGEMENT_SYSTEM_TOKEN: TOKEN,
        OBJECT_STORE_CHECKPOINTS_INTERVAL_SECONDS: '1',
        OBJECT_STORE_CHECKPOINTS_ORIGIN: `${this.name}.example`,
        ...(other !== undefined && {
          OBJECT_STORE_CHECKPOINTS_WITNESS_FOR: other.keys.log,
          OBJECT_STORE_CHECKPOINTS_WITNESSES: 'required',
          OBJECT_STORE_CHECKPOINTS_WITNESS_POLICY_FILE: policy,
        }),
      },
    })
  }

  /** However far the test came. */
  async end(): Promise<void> {
    await this.#server?.kill9()
  }

  async ask(path: string): Promise<string> {
    const headers = { authorization: `Bearer ${TOKEN}` }
    const answer = await fetch(`${this.server.apiEndpoint}/api/v1${path}`, { headers })
    return answer.ok ? answer.text() : ''
  }

  async learnKeys(): Promise<void> {
    const log = await until(
      () => this.ask('/transparency/key'),
      (text) => text !== '',
    )
    this.keys = { log: log.trim(), witness: (await this.ask('/transparency/witness/key')).trim() }
  }

  /** Writes, and waits for a checkpoint that covers what was there, with the line of its witness. */
  async writeAndSign(witness: Store): Promise<string> {
    const before = (await this.server.journal()).length
    const key = readCosignerKey(witness.keys.witness)
    return until(
      () => this.ask('/transparency/checkpoint'),
      (note) => {
        if (note === '') return false
        const { size, text, signatures } = readCheckpointNote(note)
        return size >= before && cosignatureOf(text, signatures, key) !== undefined
      },
    )
  }

  get signed(): number {
    return signedHistory(this.directory).signed.length
  }

  async status(): Promise<Record<string, unknown>> {
    return (JSON.parse(await this.ask('/storage/status')) as { checkpoints: Record<string, unknown> }).checkpoints
  }
}

async function until<T>(look: () => Promise<T>, isThere: (found: T) => boolean): Promise<T> {
  let found = await look()
  for (let looks = 0; looks < LOOKS_MAXIMUM && !isThere(found); looks += 1) {
    await pause(100)
    found = await look()
  }
  if (!isThere(found)) throw new Error(`it did not come: ${String(found)}`)
  return found
}

test('two stores cosign each other, through a kill, and one that was rolled back is refused by name', async (t) => {
  const a = new Store('a', await freePort(), '61'.repeat(32))
  const b = new Store('b', await freePort(), '62'.repeat(32))
  t.teardown(() => Promise.all([a.end(), b.end()]))
  for (const store of [a, b]) {
    await store.start()
    await store.learnKeys()
    await store.server.terminate()
  }
  await Promise.all([a.start(b), b.start(a)])

  t.ok(await a.writeAndSign(b))
  t.ok(await b.writeAndSign(a))
  let [counts, rest] = [[a.signed, b.signed], 0]
  for (let looks = 0; looks < LOOKS_MAXIMUM && rest < INTERVALS_OF_REST; looks += 1) {
    await pause(1100)
    const now = [a.signed, b.signed]
    rest = now.join() === counts.join() ? rest + 1 : 0
    counts = now
  }
  t.equal(rest, INTERVALS_OF_REST, 'they keep each other awake for some turns at most')

  const early = join(t.testdir(), 'early')
  await a.server.terminate()
  cpSync(a.directory, early, { recursive: true })
  await a.start(b)
  const kept = readCheckpointNote(await a.writeAndSign(b)).size

  await b.server.kill9()
  const withheld = await until(
    () => a.status(),
    ({ waits_for: waits }) => (waits as string[]).length > 0,
  )
  t.match(withheld, { waits_for: ['a quorum of witnesses'] })
  t.equal(readCheckpointNote(await a.ask('/transparency/checkpoint')).size >= kept, true)
  await b.start(a)
  t.ok(readCheckpointNote(await a.writeAndSign(b)).size > kept, 'the witness goes on from what it saw before the kill')

  await a.server.terminate()
  rmSync(a.directory, { recursive: true })
  cpSync(early, a.directory, { recursive: true })
  await a.start(b)
  const refused = await until(
    () => a.status(),
    ({ refusal_code: code }) => code !== null,
  )
  t.match(refused, { refusal_code: 'CHECKPOINT_ROLLBACK', refusal: /other/ })
  t.equal((await a.server.wire.send('GET', '/')).status, 200, 'it serves')
  t.match(JSON.parse(await b.ask('/transparency/witness/logs')), { logs: [{ origin: /^a\.example\//, current: true }] })

  for (const store of [a, b]) {
    await store.server.terminate()
    const journal = new StorePaths(store.directory).journal
    t.match(await verifyJournal(journal, { threads: 0, settleMilliseconds: 0 }), { intact: true })
    t.same(signedHistory(store.directory).faults, [])
  }
})
