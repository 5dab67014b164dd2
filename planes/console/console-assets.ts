import { readdirSync, readFileSync } from 'node:fs'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'

/** A file of the console in memory. */
export interface ConsoleAsset {
  readonly contentType: string
  readonly bytes: Buffer
  /** The bytes compressed by gzip, from the first time on that they are asked for: most servers are never asked. */
  zipped(): Buffer
  /** Whether its name changes with its content, so that it may be kept for ever. */
  readonly immutable: boolean
}

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/** The build's output directory. */
export const CONSOLE_ASSETS_DIRECTORY = fileURLToPath(new URL('../../console/', import.meta.url))
const INDEX = 'index.html'

/**
 * Reads the files of the console; by request path. Empty when the console was not built.
 * @throws Error for a file whose type has no row above
 */
export function readConsoleAssets(directory: string): ReadonlyMap<string, ConsoleAsset> {
  const assets = new Map<string, ConsoleAsset>()
  for (const name of namesIn(directory)) {
    const contentType = CONTENT_TYPES[extname(name)]
    if (contentType === undefined) throw new Error(`${directory}${name}: the console has no files of this type`)
    const bytes = readFileSync(`${directory}${name}`)
    let zipped: Buffer | undefined
    const asset: ConsoleAsset = {
      contentType,
      bytes,
      zipped: () => (zipped ??= gzipSync(bytes, { level: 9 })),
      immutable: name !== INDEX,
    }
    assets.set(name === INDEX ? '/' : `/${name}`, asset)
  }
  return assets
}

function namesIn(directory: string): string[] {
  try {
    const entries = readdirSync(directory, { recursive: true, withFileTypes: true })
    return entries
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => `${parentPath}/${name}`.slice(directory.length).replace(/^\//, ''))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}
