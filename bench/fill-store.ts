/** A program: fills a data directory through the engine, as the FillRequest on standard input says. */
import { text } from 'node:stream/consumers'
import { fillObjects } from './fill-objects.ts'
import { fillUploads } from './fill-uploads.ts'
import type { FillRequest } from './filler.ts'
import { openToFill } from './opened-store.ts'

const request = JSON.parse(await text(process.stdin)) as FillRequest
const { store, paths, done } = await openToFill(request)
if (request.kind === 'objects') await fillObjects(store, request)
else await fillUploads(store, paths, request)
await done()
