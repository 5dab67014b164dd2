/** Which files a server loads, in all its threads. */
import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startProcess } from './server-process.ts'
import { temporaryDirectory } from './test-clients.ts'

/** Over uWebSockets.js 37 are loaded, of which 20 are of packages with native parts. Before there were bundles, it was 961. */
export const LOADED_MAXIMUM = 39

interface Coverage {
  readonly result: readonly { readonly url: string }[]
}

/**
 * Paths of the files of JavaScript that a start and a stop loads. Node writes them for each thread that ends by itself.
 * @param program path of the command
 */
export async function loadedFiles(program: string): Promise<readonly string[]> {
  const directory = temporaryDirectory()
  const server = await startProcess({ program, environment: { NODE_V8_COVERAGE: directory } })
  await server.stop()
  const urls = readdirSync(directory).flatMap((name) => {
    const { result } = JSON.parse(readFileSync(join(directory, name), 'utf8')) as Coverage
    return result.map(({ url }) => url).filter((url) => url.startsWith('file:'))
  })
  rmSync(directory, { recursive: true })
  return [...new Set(urls)].map((url) => fileURLToPath(url))
}
