import { nodeDisk } from '../../engine/disk/node-disk.ts'
import { serveRun } from '../background-run.ts'
import type { IndexName } from './index-names.ts'
import { type IndexTask, makeIndex } from './make-index.ts'

/** The thread that makes one file of the record index. */
await serveRun<IndexTask, IndexName>((paths, task, pace) => makeIndex(nodeDisk, paths, task, pace))
