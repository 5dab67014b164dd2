/** A way to each error about the trees of checkpoints. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { treesIn } from '../../../projections/checkpoints/tree-files.ts'
import type { ApiAnswer } from '../../support/api-client.ts'
import { signingOf } from '../../support/checkpoint-signing.ts'
import { flipByteInPlace } from '../../support/journal-files.ts'
import type { ManagedServer } from '../../support/management-server.ts'

const PROOF = '/transparency/proof/inclusion?sequence=0'

export function treeErrors({ api, store, paths }: ManagedServer) {
  const trees = treesIn(paths.projections)
  const sign = async () => {
    const signing = signingOf({ ...store, paths })
    await signing.settle()
    await signing.close()
  }
  return {
    TREES_NOT_READY: async (): Promise<ApiAnswer> => {
      await sign()
      rmSync(trees, { recursive: true })
      return api.call('GET', PROOF)
    },
    TREES_DAMAGED: async (): Promise<ApiAnswer> => {
      await sign()
      flipByteInPlace(join(trees, 'record-hashes'), 0)
      const answer = await api.call('GET', PROOF)
      flipByteInPlace(join(trees, 'record-hashes'), 0)
      return answer
    },
  }
}
