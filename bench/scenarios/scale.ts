import { randomBytes } from 'node:crypto'
import type { Bench, Target } from '../bench.ts'
import { FILL_BUCKET, FILL_OBJECT_BYTES } from '../filled-store.ts'
import type { LimitName } from '../figure.ts'
import { getLoad, type Load, listLoad, putLoad } from '../load.ts'
import { sampleOfObjects } from '../object-keys.ts'
import type { Scenario } from '../scenario.ts'
import { SMALL_BYTES, USUAL_CONNECTIONS } from '../sizes.ts'

const FEW_OBJECTS = 10_000
const FEW_OBJECTS_MINIMUM = 2000
/** Different objects that are read and overwritten; no more than the smaller store has, so that both do the same. */
const SAMPLE = FEW_OBJECTS

type Operation = 'get' | 'list' | 'put'
type Rates = Readonly<Record<Operation, number>>

export const scale: Scenario = {
  name: 'scale',
  title: 'How PUT, GET and LIST change when the store grows',
  needs: 'many objects',
  async run(bench) {
    const many = bench.settings.objects
    const few = Math.max(FEW_OBJECTS_MINIMUM, Math.min(FEW_OBJECTS, many / 10))
    const rates = bench.settings.endpoint === undefined ? await grow(bench, few, many) : await send(bench, few, many)
    for (const operation of ['put', 'get', 'list'] as const) {
      bench.add({
        name: `scale-${operation}-ratio`,
        label: `Time of a ${operation.toUpperCase()} at ${shown(many)} objects over that at ${shown(few)}`,
        value: rates.few[operation] / rates.many[operation],
        unit: 'ratio',
      })
    }
  },
}

interface Growth {
  readonly few: Rates
  readonly many: Rates
}

/** Our own store is filled by its engine, without HTTP; the server is started on it afterwards, both times. */
async function grow(bench: Bench, few: number, many: number): Promise<Growth> {
  const at = async (objects: number) => {
    const { stored, seconds } = await bench.filled.fillTo(objects)
    bench.say(
      `    filled with ${shown(stored)} objects of ${FILL_OBJECT_BYTES} bytes by the engine in ${seconds.toFixed(1)} s`,
    )
    let rates: Rates | undefined
    await bench.withServerOn(bench.filled.directory, FILL_BUCKET, async (target) => {
      rates = await measureAt(bench, target, objects)
    })
    if (rates === undefined) throw new Error('nothing was measured')
    return rates
  }
  return { few: await at(few), many: await at(many) }
}

/** To another server every object is sent. */
async function send(bench: Bench, few: number, many: number): Promise<Growth> {
  let growth: Growth | undefined
  await bench.withTarget(async (target) => {
    const body = randomBytes(FILL_OBJECT_BYTES)
    await target.client.fill(target.bucket, 0, few, body)
    const before = await measureAt(bench, target, few)
    await target.client.fill(target.bucket, few, many - few, body)
    growth = { few: before, many: await measureAt(bench, target, many) }
  })
  if (growth === undefined) throw new Error('nothing was measured')
  return growth
}

/** PUTs overwrite existing objects, so that their number does not change. */
async function measureAt(bench: Bench, target: Target, objects: number): Promise<Rates> {
  const sample = sampleOfObjects(objects, SAMPLE)
  const loads: readonly { operation: Operation; load: Load; limits: readonly LimitName[] }[] = [
    { operation: 'get', load: getLoad(target.bucket, sample, FILL_OBJECT_BYTES, 'time'), limits: ['http'] },
    { operation: 'list', load: listLoad(target.bucket, objects), limits: ['http'] },
    {
      operation: 'put',
      load: putLoad(target.bucket, sample, randomBytes(SMALL_BYTES), 'time'),
      limits: ['sync-preallocated'],
    },
  ]
  const rates: Record<Operation, number> = { get: 0, list: 0, put: 0 }
  for (const { operation, load, limits } of loads) {
    await bench.warmUp(target, load, USUAL_CONNECTIONS)
    const result = await bench.measure(target, {
      figure: `scale-${operation}-${objects}`,
      label: `${operation.toUpperCase()}, ${shown(objects)} objects, ${USUAL_CONNECTIONS} connections`,
      load,
      connections: USUAL_CONNECTIONS,
      limits,
    })
    rates[operation] = result.requestsPerSecond
  }
  return rates
}

function shown(count: number): string {
  return count.toLocaleString('en')
}
