/** The host of a simulated world: its disk, its projections, its network and its boots. */
import type { Disk } from '../../../engine/disk/disk.ts'
import { StorePaths } from '../../../engine/disk/store-paths.ts'
import type { ScrubDamage } from '../../../engine/events/values.ts'
import { verifySpan } from '../../../engine/verify/span/span-verifier.ts'
import { API } from '../../../planes/management/routing/define-route.ts'
import { inlineHashing } from '../../support/inline-hashing.ts'
import { Random } from '../../support/random.ts'
import type { ServerGround } from '../../support/server-ground.ts'
import { MASTER_KEY } from '../../support/test-clients.ts'
import type { WireAnswer } from '../../support/wire-client.ts'
import { FaultyDisk } from '../disk/disk-faults.ts'
import { byChance } from '../simulated-disk/crash-choices.ts'
import { SimulatedDisk } from '../simulated-disk/simulated-disk.ts'
import { MemoryProjections } from '../small-world/memory-projections.ts'
import { diskOf } from '../small-world/world.ts'
import { CheckpointClient } from './checkpoint-client.ts'
import { firstCheckpointKey } from './checkpoint-oracle.ts'
import type { Answered } from './audit-oracle.ts'
import { thing } from './coverage.ts'
import { isUnsure } from './audit-results.ts'
import { withDataFiles } from './data-files.ts'
import { MemoryNetwork } from './memory-network.ts'
import { OutsideParties } from './outside-parties.ts'
import { Receivers } from './receivers.ts'
import { removeTrees, withTrees } from './world-trees.ts'
import { worldClients, worldManagementClient } from './world-clients.ts'

/** More would be of what is long gone. */
const IDS_MAXIMUM = 12

const EXPORT = `${API}/audit/export?`

export const ROOT = '/world'
/** Of the S3 plane, the management plane, the console with shares, and embeds. */
const FIRST_PORT = 9000
const PORTS_WITH_CREDENTIALS = 2

/** How a process ends that does not end in order. */
export type SuddenEnd = 'power' | 'kill'

export class WorldHost {
  readonly paths = new StorePaths(ROOT)
  readonly network: MemoryNetwork
  readonly receivers = new Receivers()
  readonly outside: OutsideParties
  readonly checkpoints = new CheckpointClient(() => firstCheckpointKey(ROOT, this.disk))
  disk = new SimulatedDisk(ROOT)
  projections = new MemoryProjections()
  /** The settings of the next start, and how often the store was given another key. */
  masterKeys: { readonly masterKey: Buffer; readonly previousMasterKey?: Buffer | undefined } = {
    masterKey: MASTER_KEY,
  }
  keyChanges = 0
  /** What the engine of the running process could not go on after. */
  failure: unknown
  /** Told what a scrub finds. */
  scrubbed: (damage: ScrubDamage) => void = unexpectedDamage
  /** Names of snapshots that something has damaged. */
  readonly spoiltSnapshots = new Set<string>()
  /** Names of snapshots whose rows are sealed by a master key that the store had before: they are not trusted. */
  readonly earlierSnapshots = new Set<string>()
  /** Ids that answers have named. */
  readonly ids: string[] = []
  /** What clients were answered, by all processes so far. */
  readonly answers: Answered[] = []
  /** Starts so far, failed ones among them. */
  lives = 0
  /** Numbers of the starts that ended in order. */
  readonly orderly = new Set<number>()
  /** Whether the running process had no room for records of reads. */
  missesRecords = false
  /** What was met: see `coverage.ts`. */
  readonly met = new Set<string>()
  /** Of the running process: its disk with the faults that were armed. */
  faulty = new FaultyDisk(this.disk)
  readonly random: Random
  readonly #wrap: (disk: Disk) => Disk
  #boots = 1

  /** @param wrap what stands between store and disk, for stores that are broken on purpose */
  constructor(seed: number, wrap: (disk: Disk) => Disk = (disk) => disk) {
    this.random = new Random(seed)
    this.network = new MemoryNetwork(new Random(seed + 1))
    this.network.isOn = () => this.disk.isOn
    this.network.observe = ({ method, target }, answer, port) => {
      const { status, headers } = answer
      this.receivers.observe({ method, target }, answer)
      const requestId = String(headers['x-amz-request-id'] ?? headers['x-request-id'])
      const isPublic = port >= FIRST_PORT + PORTS_WITH_CREDENTIALS
      const code = codeOf(answer, isPublic)
      if (code !== undefined) this.met.add(code)
      // Answers to people without credentials are counted, and have no records of their own.
      if (isPublic) return
      const { text } = answer
      const keys = status === 200 && method === 'POST' ? text.split('<Error>').slice(1) : []
      // An export that its client did not read to the end may be whole all the same.
      const isComplete = answer.complete || (target.startsWith(EXPORT) && text.trimEnd().endsWith(']'))
      const counts = { faults: keys.length, unsure: keys.filter(isUnsure).length }
      this.answers.push({ requestId, method, target, status, life: this.lives, isComplete, ...counts })
    }
    this.receivers.life = () => this.lives
    this.#wrap = wrap
    this.disk.timing = new Random(seed + 2)
    this.outside = new OutsideParties(new Random(seed + 3))
  }

  learn(id: string): void {
    if (this.ids.includes(id)) return
    this.ids.push(id)
    if (this.ids.length > IDS_MAXIMUM) this.ids.shift()
  }

  /** What the next process stands on. */
  ground(): ServerGround {
    const { network } = this
    this.failure = undefined
    this.lives += 1
    this.missesRecords = false
    if (!this.projections.has(this.paths.projections)) removeTrees(this.disk, this.paths)
    this.faulty = new FaultyDisk(this.disk)
    let port = FIRST_PORT
    const under = this.#wrap(this.faulty.disk)
    const { projections, paths } = this
    const inMemory = withDataFiles(diskOf({ disk: under, projections }, paths), projections, paths)
    const disk = withTrees(inMemory, under, paths)
    return {
      disk,
      bootId: `boot-${this.#boots}`,
      hashing: () => inlineHashing,
      listen: async (options) => {
        const listener = network.listen(options, port)
        port += 1
        return listener
      },
      clients: (listener) => worldClients(network, listener.port),
      closeClients: () => undefined,
      managementClient: (listener) => worldManagementClient(network, listener.port),
      verifySpan: async (job) => verifySpan(job, disk),
      failed: (error) => {
        this.failure ??= error
      },
    }
  }

  /** The process is gone: nothing that is still under way in it reaches the disk or a client. */
  silence(): void {
    this.disk.left = 0
    this.network.loseAll()
    this.receivers.loseAll()
  }

  /** What the next process finds after the one that was silenced. */
  comeBack(how: SuddenEnd): void {
    if (how === 'kill') {
      this.disk = this.disk.clone()
      this.projections = this.projections.copy()
      return
    }
    this.disk = this.disk.crash(byChance(this.random))
    this.projections = new MemoryProjections()
    this.#boots += 1
  }

  /** What the next process finds after one that stopped in order. @param isWhole whether everything that it knew is on the disk */
  stopped(isWhole = true): void {
    if (isWhole && !this.missesRecords) this.orderly.add(this.lives)
    this.disk = this.disk.clone()
    this.projections = this.projections.copy()
  }
}

export function unexpectedDamage({ kind, number, reason }: ScrubDamage): never {
  throw new Error(`a scrub found damage where nothing was damaged: ${kind} ${number}: ${reason}`)
}

/** The error code of an answer, as `coverage.ts` names it. */
function codeOf({ status, headers, code, text }: WireAnswer, isPublic: boolean): string | undefined {
  if (status < 400) return undefined
  if (!isPublic && headers['x-request-id'] === undefined) return code === undefined ? undefined : thing('s3 code', code)
  const named = /"code":"(\w+)"/.exec(text)?.[1]
  return named === undefined ? undefined : thing(isPublic ? 'link code' : 'management code', named)
}
