import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Bench, Target } from '../bench.ts'
import { FILL_BUCKET } from '../filled-store.ts'
import { putLoad } from '../load.ts'
import { sampleOfObjects } from '../object-keys.ts'
import type { Scenario } from '../scenario.ts'
import type { ServerProcess } from '../server-process.ts'
import { SMALL_BYTES, USUAL_CONNECTIONS } from '../sizes.ts'
import { runWrk, writeLoad } from '../wrk.ts'

const SAMPLE = 10_000
/** Duration of the load before the server is killed in the middle of it. */
const LOAD_MILLISECONDS = 3000

export const startUp: Scenario = {
  name: 'start-up',
  title: 'From the start of the process until it accepts requests',
  needs: 'own server',
  async run(bench) {
    const { objects, starts } = bench.settings
    await bench.filled.fillTo(objects)
    const { directory } = bench.filled
    const clean: number[] = []
    const killed: number[] = []
    // Not counted: it may find what another scenario left, and the programs are not in the page cache yet.
    await bench.withServerOn(directory, FILL_BUCKET, async () => {})
    for (let round = 0; round < starts; round += 1) {
      const first = await bench.startServer(directory)
      clean.push(first.startSeconds)
      await killUnderLoad(bench, first)
      await bench.withServerOn(directory, FILL_BUCKET, async (_target, second) => {
        killed.push(second.startSeconds)
      })
    }
    const times = starts === 1 ? 'one start' : `the slowest of ${starts} starts`
    const add = (name: string, after: string, seconds: readonly number[]) =>
      bench.add({
        name,
        label: `Start with ${objects.toLocaleString('en')} objects after ${after}`,
        value: Math.max(...seconds),
        unit: 's',
        note: times,
      })
    add('start-clean', 'a clean stop', clean)
    add('start-killed', 'kill -9 under load of PUTs', killed)
  },
}

/** The load sees its connections cut; its errors are ignored. */
async function killUnderLoad(bench: Bench, server: ServerProcess): Promise<void> {
  const { endpoint, pid } = server
  const target: Pick<Target, 'endpoint' | 'bucket' | 'pid'> = { endpoint, bucket: FILL_BUCKET, pid }
  const indexes = sampleOfObjects(bench.settings.objects, SAMPLE)
  const load = writeLoad(
    bench.directory,
    target.endpoint,
    putLoad(target.bucket, indexes, randomBytes(SMALL_BYTES), 'time'),
  )
  const seconds = Math.ceil(LOAD_MILLISECONDS / 1000) + 1
  const running = runWrk(bench.children, { url: endpoint.url, connections: USUAL_CONNECTIONS, seconds, load })
  const cut = running.catch(() => {})
  await sleep(LOAD_MILLISECONDS)
  await server.kill()
  await cut
}
