import type { Target } from './bench.ts'
import type { Load } from './load.ts'

/**
 * Every run checks the bytes of answers; this checks that they are full pages, for a few of them.
 * @param element one for each entry of a page
 * @throws Error when a page has another number of them; RefusedError
 */
export async function requireElements(target: Target, load: Load, element: string, count: number): Promise<void> {
  for (const request of [...load.requests.slice(0, 3), ...load.requests.slice(-3)]) {
    const { body } = await target.client.send(request)
    const found = body.split(`<${element}>`).length - 1
    if (found !== count) throw new Error(`a page has ${found} of ${element} and not ${count}`)
  }
}
