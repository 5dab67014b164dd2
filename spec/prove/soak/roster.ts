/** Everybody who works on the server, and what they need before they begin. */
import { ACCESS_KEY, SECRET_KEY } from '../../support/test-clients.ts'
import { basic } from '../../support/api-client.ts'
import { Random } from '../../support/random.ts'
import { VERSION_BUCKET, VersionClient } from '../../support/dying-servers/version-client.ts'
import { openUploads } from '../open-uploads.ts'
import { AccessActor, attach, makeSubject, type Subject } from './access-actor.ts'
import { type Actor, type Clients, mustBe, WrongAnswerError } from './actor.ts'
import { NoAnswerError, type Life } from './life.ts'
import { MANAGED_BUCKET, ManagementActor } from './management-actor.ts'
import { OBJECT_BUCKET, ObjectActor } from './object-actor.ts'
import { type Keys, SoakApi, SoakWire } from './soak-clients.ts'
import { EVENTS } from './soak-kinds.ts'
import type { Tally } from './tally.ts'
import { UPLOAD_BUCKET, UploadActor } from './upload-actor.ts'
import { VanishingActor } from './vanishing-actor.ts'

/** Connections of each kind: 256 together. */
const ACTORS = { objects: 176, versions: 40, uploads: 12, management: 16, access: 8, vanishing: 4 } as const
export const CONNECTIONS: number = Object.values(ACTORS).reduce((total, count) => total + count, 0)

export const BUCKETS = [OBJECT_BUCKET, MANAGED_BUCKET, UPLOAD_BUCKET, VERSION_BUCKET] as const

const ROOT: Keys = { accessKey: ACCESS_KEY, secretKey: SECRET_KEY }
/** An actor that met so many answers that are wrong stops: its picture of the store is. */
const WRONG_ANSWERS_MAXIMUM = 3

interface Member {
  readonly actor: Actor
  readonly keys: Keys
}

/** Clients of root for one life. */
export function rootClients(life: Life, through: boolean): Clients & { close(): void } {
  return clientsOf(life, ROOT, through)
}

function clientsOf(life: Life, keys: Keys, through = false): Clients & { close(): void } {
  const wire = new SoakWire(life, keys, through)
  const api = new SoakApi(life, basic(ACCESS_KEY, SECRET_KEY), through)
  const close = () => {
    wire.close()
    api.close()
  }
  return { life, wire, api, close }
}

export class Roster {
  readonly #members: readonly Member[]
  readonly #tally: Tally

  private constructor(members: readonly Member[], tally: Tally) {
    this.#members = members
    this.#tally = tally
  }

  /**
   * Makes buckets and accounts.
   * @throws NoAnswerError, WrongAnswerError
   */
  static async make(life: Life, seed: number, tally: Tally): Promise<Roster> {
    const clients = clientsOf(life, ROOT)
    try {
      await makeBuckets(clients)
      const signer = await makeSubject(clients, 'signer')
      await attach(clients, signer)
      const subjects: Subject[] = []
      for (let index = 0; index < ACTORS.access; index += 1)
        subjects.push(await makeSubject(clients, `subject-${index}`))
      const abandoned = () => tally.happened(EVENTS.abandonedUpload)
      let number = 0
      const several = <T>(count: number, make: (number: number, random: Random) => T): T[] =>
        Array.from({ length: count }, () => {
          number += 1
          return make(number, new Random(seed + 7919 * number))
        })
      const actors: Actor[] = [
        ...several(ACTORS.uploads, (id, random) => new UploadActor(id, random, abandoned)),
        ...several(ACTORS.objects, (id, random) => new ObjectActor(id, random)),
        ...several(ACTORS.versions, (id, random) => versionActor(new VersionClient(id, random))),
        ...several(ACTORS.management, (id, random) => new ManagementActor(id, random)),
        ...several(ACTORS.vanishing, (id, random) => new VanishingActor(id, random, tally)),
        ...subjects.map((subject, index) => new AccessActor(index, new Random(seed + index), subject)),
      ]
      const members = actors.map((actor, index) => ({ actor, keys: index % 2 === 0 ? ROOT : signer }))
      return new Roster(members, tally)
    } finally {
      clients.close()
    }
  }

  /** Has everybody who has looked work until the life ends; resolves when nobody waits for an answer any more. */
  async work(life: Life): Promise<void> {
    await Promise.all(this.#members.map((member) => this.#work(member, life)))
  }

  /** Has everybody look at all that they know of, and settle what is in doubt; the life must not end meanwhile. */
  async check(life: Life): Promise<void> {
    await Promise.all(
      this.#members.map(async ({ actor, keys }) => {
        const clients = clientsOf(life, keys)
        try {
          await this.#look(actor, clients)
        } catch (error) {
          this.#tell(error)
        } finally {
          clients.close()
        }
      }),
    )
  }

  async #work({ actor, keys }: Member, life: Life): Promise<void> {
    const clients = clientsOf(life, keys)
    try {
      for (let wrong = 0; wrong < WRONG_ANSWERS_MAXIMUM && !life.isEnding; ) {
        try {
          await actor.run(clients)
          if (!life.isEnding) await this.#look(actor, clients)
        } catch (error) {
          wrong += this.#tell(error)
        }
      }
    } finally {
      clients.close()
    }
  }

  async #look(actor: Actor, clients: Clients): Promise<void> {
    for (const wrong of await actor.check(clients)) this.#tally.finding('lost', wrong)
  }

  /** What had no answer has been judged already. Gives how many findings it was. */
  #tell(error: unknown): number {
    if (error instanceof NoAnswerError) return 0
    this.#tally.finding(error instanceof WrongAnswerError ? 'lost' : 'error', String(error))
    return 1
  }
}

async function makeBuckets({ wire }: Clients): Promise<void> {
  for (const bucket of BUCKETS) {
    const headers = bucket === VERSION_BUCKET ? ([['x-amz-bucket-object-lock-enabled', 'true']] as const) : []
    mustBe(bucket, await wire.send('PUT', `/${bucket}`, { headers }), 200)
  }
}

function versionActor(client: VersionClient): Actor {
  return {
    check: async ({ wire }) => (await client.check(wire)).map(({ kind, text }) => `${kind}: ${text}`),
    run: ({ wire }) => client.run(wire),
  }
}

/** Ends every upload that is still open. @throws NoAnswerError, WrongAnswerError */
export async function abortUploads({ wire }: Clients): Promise<void> {
  for (const bucket of [UPLOAD_BUCKET, VERSION_BUCKET]) {
    for (let targets = await openUploads(wire, bucket); targets.length > 0; targets = await openUploads(wire, bucket)) {
      for (const target of targets) mustBe(target, await wire.send('DELETE', target), 204)
    }
  }
}
