import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'

const SOURCE = readFileSync('node_modules/axe-core/axe.min.js', 'utf8')
const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']

/** Of the rules that are not kept only, and in the page: the elements that keep a rule are many, and nobody reads of them. */
const LOOK = `axe.run(document, { runOnly: ${JSON.stringify(RULES)}, resultTypes: ['violations'] }).then(({ violations }) =>
  violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ': ' + html)))`

/** What hinders people who use a page by other means than eyes and mouse: `rule: element` for each. */
export async function hindrances(page: Page): Promise<string[]> {
  // By the protocol, since the policy of the page lets in no script. Once for each document: it takes longer than to look.
  if ((await page.evaluate('typeof axe')) === 'undefined') await page.evaluate(SOURCE)
  return (await page.evaluate(LOOK)) as string[]
}
