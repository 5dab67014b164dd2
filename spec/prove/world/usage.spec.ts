import { test } from 'tap'
import type { Model } from '../../model/model.ts'
import { requireUsage } from './usage.ts'
import type { WorldServer } from './world-server.ts'

const USED = { objects: 2, bytes: 30, noncurrent: 1, noncurrentBytes: 10, markers: 0, uploadBytes: 5 }

/** @param states that the model takes for possible */
function model(states: number): Model {
  const world = { buckets: new Map([['b', { id: 7 }]]), usage: () => USED }
  return { world, worlds: Array.from({ length: states }, () => world) } as unknown as Model
}

function server(counted: Readonly<Record<string, number>>): WorldServer {
  const snapshot = { bucket: () => ({ id: 7 }), bucketUsage: () => ({ ...USED, received: 99, ...counted }) }
  return { store: { catalog: { snapshot: () => snapshot } } } as unknown as WorldServer
}

test('what a bucket holds is counted as it is', (t) => {
  requireUsage(model(1), server({}))
  for (const kind of Object.keys(USED)) {
    t.throws(() => requireUsage(model(1), server({ [kind]: 77 })), /^usage of b: /, kind)
    requireUsage(model(2), server({ [kind]: 77 }))
  }
  t.end()
})
