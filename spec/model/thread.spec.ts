/**
 * Proves: DO-CAP-01, DO-CAP-02, DO-CAP-03, DO-CAP-04, DO-CAP-07, RES-OBJ-03, RES-OBJ-05, STA-VRS-02, STA-VRS-06,
 * STA-OBJ-02, STA-OBJ-03, ERR-S3X-05, VER-ANY-08.
 */
import { test } from 'tap'
import { runSequences } from './run-sequences.ts'
import { ThreadStore } from './thread-store.ts'

test('X6 W6 the store does as its model, with cut connections, clock steps, restarts and rebuilds', async (t) => {
  t.setTimeout(0)
  await runSequences(t, {
    name: 'THREAD',
    sequences: 188,
    length: 100,
    disturbance: 'cut',
    restarts: 2,
    works: 4,
    clockSteps: 4,
    passes: 2,
    open: (dataDirectory) => ThreadStore.open(dataDirectory),
  })
})
