import { nodeDisk } from '../../engine/disk/node-disk.ts'
import { serveRun } from '../background-run.ts'
import { type MadeSnapshot, makeSnapshot, type SnapshotRequest } from './make-snapshot.ts'

/** The thread that makes one snapshot. */
await serveRun<SnapshotRequest, MadeSnapshot>((paths, request, pace) => makeSnapshot(nodeDisk, paths, request, pace))
