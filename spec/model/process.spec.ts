import { test } from 'tap'
import { ProcessStore } from './process-store.ts'
import { runSequences } from './run-sequences.ts'

test('X6 W6 the program does as the model of the store, with kill -9 while requests are on their way', async (t) => {
  t.setTimeout(0)
  await runSequences(t, {
    name: 'PROCESS',
    sequences: 12,
    length: 60,
    disturbance: 'kill',
    restarts: 1,
    works: 0,
    clockSteps: 1,
    passes: 0,
    open: (dataDirectory) => ProcessStore.open(dataDirectory),
  })
})
