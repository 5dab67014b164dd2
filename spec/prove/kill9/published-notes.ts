/** A reader of the checkpoints of a server that may die at any moment. What was published once must hold for ever (T3). */
import { setTimeout as pause } from 'node:timers/promises'
import { readCheckpointNote } from '../../../engine/checkpoints/checkpoint-note.ts'
import { LOG_HASHING } from '../../../engine/checkpoints/tree-hashing.ts'
import { readConsistencyProof } from '../../../engine/checkpoints/tree-proofs.ts'
import { isConsistent } from '../../../engine/checkpoints/tree-shape.ts'
import { API } from '../../../planes/management/routing/define-route.ts'
import { ApiClient, basic } from '../../support/api-client.ts'
import { type Finding, lost, wrong } from '../../support/dying-servers/client-findings.ts'
import { signedHistory } from '../../support/signed-history.ts'
import { ACCESS_KEY, SECRET_KEY } from '../../support/test-clients.ts'
import type { KillCounts } from './kill-counts.ts'

/** As often as the rules of servers allow. */
export const CHECKPOINT_SETTINGS = { OBJECT_STORE_CHECKPOINTS_INTERVAL_SECONDS: '1' }
const LOOK_MILLISECONDS = 30
const NEWEST = `${API}/transparency/checkpoint`

type Answer = Awaited<ReturnType<ApiClient['send']>>
type CheckpointNote = ReturnType<typeof readCheckpointNote>

/** Everything that one reader was told, over all kills. */
export class PublishedNotes {
  readonly #dataDirectory: string
  readonly #counts: Pick<KillCounts, 'checkpoints' | 'extended'>
  /** By size. */
  readonly #seen = new Map<number, CheckpointNote>()
  /** The last that was seen; of a start before this one until `check` has looked at it. */
  #last: CheckpointNote | undefined
  readonly #refusals: Finding[] = []

  constructor(dataDirectory: string, counts: Pick<KillCounts, 'checkpoints' | 'extended'>) {
    this.#dataDirectory = dataDirectory
    this.#counts = counts
  }

  /** Asks for the newest note until there is no answer. */
  follow(endpoint: string): Promise<void> {
    return withApi(endpoint, async (api) => {
      for (;;) {
        const answer = await api.send('GET', NEWEST).catch(() => undefined)
        if (answer === undefined) return
        const note = this.#noteIn(answer)
        if (note !== undefined) this.#take(note)
        await pause(LOOK_MILLISECONDS)
      }
    })
  }

  /** Of a server that has just started: its newest note is the one that was seen last, or proves that it extends it. */
  check(endpoint: string): Promise<Finding[]> {
    return withApi(endpoint, async (api) => {
      const [before, now] = [this.#last, this.#noteIn(await api.send('GET', NEWEST))]
      if (before === undefined) {
        if (now !== undefined) this.#take(now)
        return []
      }
      if (now === undefined || now.size < before.size)
        return [lost(`the note of ${before.size} records was taken back: ${now?.size ?? 'no'} records`)]
      if (now.size === before.size) {
        const isSame = Buffer.from(now.root).equals(before.root) && now.origin === before.origin
        return isSame ? [] : [wrong(`${now.size} records were signed twice`)]
      }
      this.#take(now)
      return this.#extension(api, before)
    })
  }

  /** Each note is one that the journal says it signed, and each of those follows from its records. */
  judge(): Finding[] {
    const { signed, faults } = signedHistory(this.#dataDirectory)
    const roots = new Map(signed.map(({ size, root }) => [size, Buffer.from(root)]))
    const gone = [...this.#seen].filter(([size, { root }]) => roots.get(size)?.equals(root) !== true)
    return [
      ...this.#refusals.splice(0),
      ...faults.map((fault) => wrong(fault)),
      ...gone.map(([size]) => lost(`the journal did not sign the published note of ${size} records`)),
    ]
  }

  #take(note: CheckpointNote): void {
    if (!this.#seen.has(note.size)) this.#counts.checkpoints += 1
    this.#seen.set(note.size, note)
    this.#last = note
  }

  /** Undefined before the first checkpoint. */
  #noteIn({ status, body }: Answer): CheckpointNote | undefined {
    if (status === 200) return readCheckpointNote(body.toString())
    if (status !== 404) this.#refusals.push(wrong(`no checkpoint: ${status} ${body}`))
    return undefined
  }

  async #extension(api: ApiClient, old: CheckpointNote): Promise<Finding[]> {
    const { status, body } = await api.send('GET', `${API}/transparency/proof/consistency?old=${old.size}`)
    // The projections were thrown away, and the trees are being made again; `judge` computes the roots itself.
    if (status === 503) return []
    if (status !== 200) return [wrong(`no proof that ${old.size} records were extended: ${status} ${body}`)]
    const { path, note } = readConsistencyProof(body.toString())
    const later = readCheckpointNote(note)
    this.#take(later)
    if (!isConsistent(LOG_HASHING, old, later, path))
      return [wrong(`the note of ${later.size} records does not extend that of ${old.size}`)]
    this.#counts.extended += 1
    return []
  }
}

async function withApi<T>(endpoint: string, use: (api: ApiClient) => Promise<T>): Promise<T> {
  const api = ApiClient.of(endpoint, basic(ACCESS_KEY, SECRET_KEY))
  try {
    return await use(api)
  } finally {
    api.close()
  }
}
