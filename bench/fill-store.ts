/** A program: fills a data directory through the engine, as the FillRequest on standard input says. */
import { text } from 'node:stream/consumers'
import { loadConfig } from '../cli/config/load-config.ts'
import { openStore } from '../cli/store/open-store.ts'
import { storeOptions } from '../cli/store/store-options.ts'
import { nodeDisk } from '../engine/disk/node-disk.ts'
import { lockStore } from '../engine/disk/store-lock.ts'
import { StorePaths } from '../engine/disk/store-paths.ts'
import { fillObjects } from './fill-objects.ts'
import { fillUploads } from './fill-uploads.ts'
import type { FillRequest } from './filler.ts'

const request = JSON.parse(await text(process.stdin)) as FillRequest
const paths = new StorePaths(request.dataDirectory)
nodeDisk.makeDirectory(paths.root)
const lock = await lockStore(nodeDisk, paths.root)
const flags = Object.fromEntries(request.settings.map((setting) => setting.split('=', 2)))
const { config } = loadConfig({ flags, environment: {}, workingDirectory: paths.root })
const store = await openStore(nodeDisk, paths, storeOptions(config, Buffer.from(request.masterKey, 'hex')), {
  onFailure: (error) => {
    throw error
  },
  onBatchDone: () => {},
})
if (request.kind === 'objects') await fillObjects(store, request)
else await fillUploads(store, paths, request)
await store.close(true)
await lock.release()
