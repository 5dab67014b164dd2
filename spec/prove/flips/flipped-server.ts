/** A server on real files, in this thread and without sockets. */
import { setImmediate as turn } from 'node:timers/promises'
import type { ScrubDamage } from '../../../engine/events/values.ts'
import { verifyJournal } from '../../../engine/verify/journal-verifier.ts'
import { API } from '../../../planes/management/routing/define-route.ts'
import { PayloadScrub } from '../../../workers/scrub/payload-scrub.ts'
import { StoreScrub } from '../../../workers/scrub/scrub-store.ts'
import { SegmentScrub } from '../../../workers/scrub/segment-scrub.ts'
import { systemMilliseconds } from '../../../engine/clock.ts'
import { millisecondsOf } from '../../../engine/brands.ts'
import { inlineHashing } from '../../support/inline-hashing.ts'
import { type ManagedServer, startManaged } from '../../support/management-server.ts'
import { Random } from '../../support/random.ts'
import { roomyDisk } from '../../support/test-store.ts'
import { MemoryNetwork } from '../world/memory-network.ts'
import { worldClients, worldManagementClient } from '../world/world-clients.ts'

/** Small, so that a store of some hundred objects has many segments and volumes, and objects with files of their own. */
const SIZES = { inlineBytesMaximum: 2048, segmentBytes: 64 * 1024, volumeBytes: 64 * 1024 }
const FIRST_PORT = 9000

export interface FlippedServer extends ManagedServer {
  /** What the engine could not go on after. */
  readonly fatal: unknown[]
}

export async function startFlipped(dataDirectory: string, bootId: string): Promise<FlippedServer> {
  const network = new MemoryNetwork(new Random(1))
  const fatal: unknown[] = []
  let port = FIRST_PORT
  const server = await startManaged({
    dataDirectory,
    ...SIZES,
    ground: {
      disk: roomyDisk,
      bootId,
      hashing: () => inlineHashing,
      listen: async (options) => {
        port += 1
        return network.listen(options, port)
      },
      clients: (listener) => worldClients(network, listener.port),
      closeClients: () => undefined,
      managementClient: (listener) => worldManagementClient(network, listener.port),
      failed: (error) => void fatal.push(error),
    },
  })
  return { ...server, fatal }
}

/** A pass of the scrub over all payloads and sealed segments. */
export async function scrubbed({ store, session, paths, api }: ManagedServer): Promise<readonly ScrubDamage[]> {
  const found: ScrubDamage[] = []
  const parts = {
    payloads: new PayloadScrub(store.catalog, session.payloads),
    segments: new SegmentScrub(roomyDisk, paths),
  }
  const scrub = new StoreScrub(store.client, store.catalog, parts, {
    intervalDays: 0,
    bytesPerSecond: 2 ** 40,
    createdMilliseconds: millisecondsOf(0),
    clock: systemMilliseconds,
    timer: () => performance.now(),
    onDamage: (damage) => void found.push(damage),
    onEnd: () => undefined,
  })
  await api.send('POST', `${API}/storage/scrub`, {})
  while ((await scrub.step()) === 'more') await turn()
  await scrub.close()
  return found
}

/** Segments that the verifier finds something in. */
export async function segmentsNamed(journal: string): Promise<readonly string[]> {
  const { problems } = await verifyJournal(journal, { threads: 0, settleMilliseconds: 0, files: roomyDisk })
  return problems.map(({ segment }) => segment)
}
