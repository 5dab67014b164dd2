import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { type Microseconds, microsecondsOf, millisecondsOf } from '../../engine/brands.ts'
import { LifecyclePass, type PassCounts } from '../../workers/lifecycle/lifecycle-pass.ts'
import type { Bench } from '../bench.ts'
import { auditOf } from '../fill-commands.ts'
import { fillObjects } from '../fill-objects.ts'
import { openToFill } from '../opened-store.ts'
import type { Scenario } from '../scenario.ts'

const BUCKET = 'aging'
const DAY_MILLISECONDS = 24 * 60 * 60 * 1000
const RULE_DAYS = 30
/** Due in the measured pass, and in the passes that measure the rate of removals. */
const DUE = 1000
const REMOVED = 20_000
/** `lifecycle.batch_size` by default, and at most. */
const USUAL_BATCH = 100
const LARGEST_BATCH = 1000
const OBJECT_BYTES = 512

/** In the process of the bench and without HTTP: a pass is the work of two threads of the server, and of no request. */
export const lifecycle: Scenario = {
  name: 'lifecycle',
  title: 'A pass over the lifecycle rules of a bucket of which little is due',
  needs: 'own server',
  async run(bench) {
    const { objects } = bench.settings
    for (const young of [Math.ceil(objects / 100), objects]) await measureWith(bench, young, young === objects)
  },
}

async function measureWith(bench: Bench, young: number, isFull: boolean): Promise<void> {
  const dataDirectory = join(bench.directory, 'aging')
  let now = Date.now() - 2 * RULE_DAYS * DAY_MILLISECONDS
  const clock = (): Microseconds => microsecondsOf(now * 1000)
  const { store, done } = await openToFill({ dataDirectory, masterKey: bench.secrets.masterKey, clock })
  try {
    const due = isFull ? DUE + REMOVED : DUE
    const request = {
      kind: 'objects',
      dataDirectory,
      masterKey: '',
      settings: [],
      bucket: BUCKET,
      overwrites: 0,
    } as const
    await fillObjects(store, { ...request, from: 0, count: due, objectBytes: OBJECT_BYTES })
    now = Date.now()
    await fillObjects(store, { ...request, from: due, count: young, objectBytes: OBJECT_BYTES })
    const rule = { rule: 'rule', prefix: '', enabled: true, expirationDays: RULE_DAYS, noncurrentDays: undefined }
    const audit = auditOf('POST', 'CreateLifecycleRule', BUCKET)
    await store.client.execute({ kind: 'create-lifecycle-rule', audit, bucket: BUCKET, rule })
    const pass = (batchSize: number): Promise<PassCounts> =>
      wholePass(new LifecyclePass(store.client, store.catalog, batchSize, () => millisecondsOf(now), new Set()))
    const before = process.cpuUsage()
    const { expired } = await pass(USUAL_BATCH)
    const { user, system } = process.cpuUsage(before)
    if (expired !== USUAL_BATCH) throw new Error(`a pass removed ${expired} objects, not ${USUAL_BATCH}`)
    bench.add({
      name: isFull ? 'lifecycle-pass' : 'lifecycle-pass-small',
      label: `Processor time of a pass that removes ${USUAL_BATCH} of ${(young + due).toLocaleString('en')} objects`,
      value: (user + system) / 1000,
      unit: 'ms',
    })
    if (isFull) await measureRemovals(bench, () => pass(LARGEST_BATCH))
  } finally {
    await done()
    rmSync(dataDirectory, { recursive: true, force: true })
  }
}

async function measureRemovals(bench: Bench, pass: () => Promise<PassCounts>): Promise<void> {
  const begun = performance.now()
  let removed = 0
  for (let counts = await pass(); counts.expired > 0; counts = await pass()) removed += counts.expired
  bench.add({
    name: 'lifecycle-removals',
    label: `Objects removed by passes of ${LARGEST_BATCH}, each with two records`,
    value: (removed * 1000) / (performance.now() - begun),
    unit: 'per second',
  })
}

async function wholePass(pass: LifecyclePass): Promise<PassCounts> {
  while (await pass.step());
  return pass.counts
}
