/** The golden journals: written once, each by a life of a store with a fixed clock and identity. */
import type { BucketUsage } from '../../../projections/tables/usage.ts'
import { cpSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { StorePaths } from '../../../engine/disk/store-paths.ts'
import { openTestStore, type TestStore } from '../test-store.ts'

/**
 * 1: change kinds 1 to 7. 2: every kind of change up to 33, and every form of their fields. 3: 23 to 35, authenticated.
 * 4: policies that are replaced and deleted (50, 51), authenticated. 5: lifecycle rules and their work (60 to 63).
 * 6: webhooks and their deliveries (40 to 46). 7: shares and embeds (70 to 78). 8: all that storage events are made of:
 * deletions, an upload that was aborted, copies, work of lifecycle rules; deliveries of them, a replay, a rotation. 9: the
 * first, and a scrub after it (80). 10: the ninth, and renames after it. 11: the tenth,
 * and appends after it (39).
 * 12: the first, and three checkpoints after it (47). 13: the eleventh, and uploads that asked
 * for checksums. 14: the twelfth, and after it receipts of checkpoints, and one that was published later (52 to 54). 15: the
 * fourteenth, and after it checkpoints of other logs that were cosigned (55). 16: the
 * fourteenth, and after it a rotation of the key of the checkpoints, and a checkpoint of the new key (56). 17: the sixth, and after it webhooks whose
 * query is sealed, and attempts of one that was disabled meanwhile (48). 18: the fourth, and after it objects and accounts while
 * the clock was two days ahead, right again, an hour behind, and ahead (body version 2). 19: the eighteenth, and after it a
 * clock that is behind by two hours, and the order time set back to it (81).
 */
export const GOLDEN_JOURNALS = [
  'spec/golden/journal-v1',
  'spec/golden/journal-v2',
  'spec/golden/journal-v3',
  'spec/golden/journal-v4',
  'spec/golden/journal-v5',
  'spec/golden/journal-v6',
  'spec/golden/journal-v7',
  'spec/golden/journal-v8',
  'spec/golden/journal-v9',
  'spec/golden/journal-v10',
  'spec/golden/journal-v11',
  'spec/golden/journal-v12',
  'spec/golden/journal-v13',
  'spec/golden/journal-v14',
  'spec/golden/journal-v15',
  'spec/golden/journal-v16',
  'spec/golden/journal-v17',
  'spec/golden/journal-v18',
  'spec/golden/journal-v19',
] as const
export const GOLDEN_MASTER_KEY = Buffer.alloc(32, 0x47)
export const GOLDEN_DEPLOYMENT = '0123456789abcdef0123456789abcdef'
export const GOLDEN_BOOT_ID = '00000000-1111-2222-3333-444444444444'

/** A copy of a golden journal, without volumes: the journal alone is golden. */
export function copyGolden(root: string, golden: string): StorePaths {
  const paths = new StorePaths(root)
  cpSync(join(golden, 'journal'), paths.journal, { recursive: true })
  mkdirSync(paths.volumes, { recursive: true })
  return paths
}

/** Opening it makes the projections, and vouches for what was not authenticated when the journal was written. */
export function openGolden(paths: StorePaths, bootId = GOLDEN_BOOT_ID): Promise<TestStore> {
  return openTestStore(paths.root, { masterKey: GOLDEN_MASTER_KEY, segmentBytes: 8 * 1024, bootId, adoptsAccess: true })
}

/** What was counted of a bucket when the golden journals were written. */
export function countedThen({ uploadBytes: _parts, receivedBytes: _received, ...counted }: BucketUsage) {
  return counted
}
