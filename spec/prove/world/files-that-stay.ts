/** Files of payloads and uploads that stay when nothing is left that needs them: they are removed beside the answers. */
import type { WorldHost } from './world-host.ts'

/** How often it is looked whether they are removed, by the stopwatch of the world. */
const LOOKS_MAXIMUM = 100
const LOOK_MILLISECONDS = 100

/** Their paths, once nothing more is removed. */
export async function filesThatStay({ disk, paths }: WorldHost): Promise<string[]> {
  const places = [`${paths.files}/`, `${paths.uploads}/`]
  for (let look = 0; ; look += 1) {
    const all = [...disk.contents().keys()].filter((path) => !path.endsWith('/'))
    const found = all.filter((path) => places.some((place) => path.startsWith(place)))
    if (found.length === 0 || look === LOOKS_MAXIMUM) return found
    await new Promise((resolve) => setTimeout(resolve, LOOK_MILLISECONDS))
  }
}
