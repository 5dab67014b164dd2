import { test } from 'tap'
import { RefusalPace } from '../../../planes/exchange/refusal-pace.ts'
import { SimulatedTime } from './simulated-time.ts'

/** Milliseconds. */
const PAUSE = 10_000

/** @param work what happens in a world of its own */
async function inWorld<T>(work: () => Promise<T>): Promise<T> {
  const time = new SimulatedTime(0)
  try {
    return await time.until(work())
  } finally {
    time.restore()
  }
}

async function pauseOf(milliseconds: number): Promise<number> {
  const before = performance.now()
  await new Promise((resolve) => setTimeout(resolve, milliseconds))
  return performance.now() - before
}

test('what a module has of the stopwatch is of no world after it', async (t) => {
  const ofProcess = new RefusalPace()
  await inWorld(async () => t.equal(ofProcess.turn('a stranger'), undefined, 'it was loaded before the first world'))
  const ofWorld = await inWorld(async () => {
    await pauseOf(PAUSE)
    return new RefusalPace()
  })
  await inWorld(async () => t.equal(ofWorld.turn('a stranger'), undefined, 'it was loaded in a world that lasted'))
})

test('pauses are whole milliseconds, in whichever world', async (t) => {
  for (const milliseconds of [0.1, 1.7, 1000.3]) {
    t.equal(await inWorld(() => pauseOf(milliseconds)), Math.max(1, Math.trunc(milliseconds)))
  }
})
