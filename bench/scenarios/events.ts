import { Agent } from 'node:http'
import type { Bench, Target } from '../bench.ts'
import { manage } from '../management.ts'
import { memoryUsage, processorSeconds, watchMemory } from '../process-usage.ts'
import type { Scenario } from '../scenario.ts'

const NOTHING = Buffer.alloc(0)
const CHANGES = 50

/** The stream of storage events: the whole history of the large store, and how soon a change is in the pages. */
export const events: Scenario = {
  name: 'events',
  title: 'Storage events: the stream of the history, and a change in a page',
  needs: 'own server',
  async run(bench) {
    await bench.filled.fillTo(bench.settings.objects)
    await bench.withServerOn(bench.filled.directory, '', async (target) => {
      await history(bench, target)
      await visible(bench, target)
    })
  },
}

/** Reads the history once to the end, as one client does. */
async function history(bench: Bench, target: Target): Promise<void> {
  if (target.pid === undefined) throw new Error('the process of the server is not known')
  const before = processorSeconds(target.pid)
  const idle = memoryUsage(target.pid)
  const memory = watchMemory(target.pid)
  const began = performance.now()
  const { bytes } = await manage(target, 'GET', '/events/stream?follow=false', NOTHING)
  const peak = memory.end()
  const seconds = (performance.now() - began) / 1000
  const processor = processorSeconds(target.pid) - before
  const count = bench.settings.objects
  const label = `Events of the history, ${count.toLocaleString('en')} in one stream`
  const note = `${processor.toFixed(1)} s of processor time in ${seconds.toFixed(1)} s, ${(bytes / seconds / 1024 ** 2).toFixed(0)} MiB/s`
  bench.add({ name: 'events-stream', label, value: count / seconds, unit: 'per second', note })
  bench.add({
    name: 'events-stream-memory',
    label: 'Peak resident set of the server meanwhile, without mapped files',
    value: peak.anonymous,
    unit: 'MiB',
    note: `${idle.anonymous.toFixed(0)} MiB before; ${peak.resident.toFixed(0)} MiB with mapped files`,
  })
}

/** From the answer to a change until a page has its event. */
async function visible(bench: Bench, target: Target): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const milliseconds: number[] = []
  try {
    let cursor = await headOf(target, agent, '')
    for (let change = 0; change < CHANGES; change += 1) {
      const name = Buffer.from(JSON.stringify({ name: `visible-${change}` }))
      await manage(target, 'POST', '/buckets', name, agent)
      const began = performance.now()
      for (let count = 0; count === 0; ) {
        const page = await headOf(target, agent, cursor.next)
        count = page.count
        if (count > 0) cursor = page
      }
      milliseconds.push(performance.now() - began)
    }
  } finally {
    agent.destroy()
  }
  milliseconds.sort((left, right) => left - right)
  bench.add({
    name: 'events-visible',
    label: `From the answer to a change until a page has its event, median of ${CHANGES}`,
    value: milliseconds[CHANGES / 2] as number,
    unit: 'ms',
    note: `at most ${(milliseconds.at(-1) as number).toFixed(1)} ms`,
  })
}

/** What came after a cursor, and the cursor after everything. */
async function headOf(target: Target, agent: Agent, after: string): Promise<{ count: number; next: string }> {
  const { text } = await manage(target, 'GET', `/events?limit=1${after}`, NOTHING, agent)
  const page = JSON.parse(text) as { events: readonly unknown[]; head_time: string; head_id: string }
  return { count: page.events.length, next: `&after_time=${page.head_time}&after_id=${page.head_id}` }
}
