/**
 * The data tools of data-tools.md, over HTTP and over TLS, in round trips that are in data-tools/. With the settings of that
 * page: what works, and that what is refused shows the way out to whoever uses the tool. In `compatible`
 * and the defaults of the tool: what was refused works, and no upload is left open.
 */
import { test } from 'tap'
import { startAll } from './both-servers.ts'
import { clientTools } from './client-tools.ts'
import { tryScripts } from './round-trips.ts'

const tools = await clientTools()
const all = await startAll()
tryScripts('data-tools', tools, all)

test('end', async () => {
  await all.stop()
})
