/**
 * More data tools of data-tools.md, as data-tools.spec.ts tries its own: with their defaults, over HTTP and over TLS, in `strict`
 * and in `compatible`. Their round trips are in more-tools/, and they are installed by `npm run install:clients -- --more`.
 */
import { test } from 'tap'
import { startAll } from './both-servers.ts'
import { clientTools } from './client-tools.ts'
import { tryScripts } from './round-trips.ts'

const tools = await clientTools('--more')
const all = await startAll()
tryScripts('more-tools', tools, all)

test('end', async () => {
  await all.stop()
})
