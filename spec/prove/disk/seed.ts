/** One store on one host, from an empty disk on: some lives, each with its end, then damage to the medium. */
import * as fs from 'node:fs'
import { join } from 'node:path'
import { ModelledClients } from '../../support/dying-servers/modelled-clients.ts'
import { Random } from '../../support/random.ts'
import { type Breakage, UNBROKEN } from './breakage.ts'
import { tryDamage } from './damage-trial.ts'
import type { Finding } from '../../support/dying-servers/client-findings.ts'
import { emptyTally, type SeedReport } from './findings.ts'
import type { Intervals } from './intervals.ts'
import { verifyImage } from './journal-image.ts'
import { live, type World } from './life.ts'
import { type LifePlan, lifePlan, UNDISTURBED } from './life-plans.ts'
import { Promises } from './promises.ts'
import { SimulatedHost } from './simulated-host.ts'

const LIVES_MINIMUM = 4
const LIVES_MORE = 8
const CLIENTS = 2

/**
 * Lives the lives of a seed; the first thing that is found ends it.
 * @param directory where the host's directory is made, and removed
 */
export async function runSeed(
  seed: number,
  directory: string,
  intervals: Intervals,
  breakage: Breakage = UNBROKEN,
): Promise<SeedReport> {
  const random = new Random(seed)
  const host = new SimulatedHost(join(directory, `seed-${seed}`))
  host.disk.timing = new Random(random.below(2 ** 31))
  const clients = new ModelledClients(CLIENTS)
  const world: World = { host, clients, promises: new Promises(), random, intervals, breakage, tally: emptyTally() }
  const restore = breakage.install?.()
  try {
    return { tally: world.tally, findings: await liveAll(world) }
  } finally {
    restore?.()
    fs.rmSync(host.paths.root, { recursive: true })
  }
}

async function liveAll(world: World): Promise<Finding[]> {
  const { random, host, tally } = world
  const lives = LIVES_MINIMUM + random.below(LIVES_MORE)
  for (let life = 1; life <= lives; life += 1) {
    const plan = lifePlan(random)
    const found = await live(world, life, plan)
    if (found.length === 0) found.push(...(await endLife(world, plan)))
    if (found.length > 0) return found.map(({ kind, text }) => ({ kind, text: `life ${life} ${plan.title}: ${text}` }))
  }
  const end = random.of(['kill', 'stop', 'power'] as const)
  // What is damaged is to be the same each time.
  const plan: LifePlan = { ...UNDISTURBED, title: 'is damaged after it', end, ages: false }
  const last = await live(world, lives + 1, plan)
  if (plan.end === 'power') host.powerCut(random)
  else host.killed()
  tally.segments += host.disk.list(host.paths.journal).filter((name) => name.endsWith('.segment')).length
  if (last.length > 0) return last.map(({ kind, text }) => ({ kind, text: `last life: ${text}` }))
  return tryDamage(world, lives + 2, plan.end === 'power')
}

/** What the end of a life does to the disk. */
async function endLife(world: World, plan: LifePlan): Promise<Finding[]> {
  const { host, random, tally, promises } = world
  if (plan.opensFor !== undefined && !host.disk.isOn) tally.crashesInRecovery += 1
  const stopped = plan.end === 'stop' && host.disk.isOn
  if (!stopped) tally.crashes += 1
  if (plan.end === 'kill' || (stopped && random.below(2) === 0)) {
    host.killed()
    return []
  }
  host.powerCut(random)
  promises.pin(host.disk, host.paths)
  const report = await verifyImage(host.disk, host.paths)
  return (report?.problems ?? []).map(({ verdict, detail }) => ({ kind: 'wrong', text: `${verdict}: ${detail}` }))
}
