/** Somebody at a page who has no mouse: the keys Tab, Enter, Space, Escape, the arrows, and what is typed. */
import type { Page } from 'playwright-core'
import type { Test } from 'tap'

type AriaRole = Parameters<Page['getByRole']>[0]

/** More controls than a screen of the specs has, from any of them to any other. */
const STEPS_MAXIMUM = 120

/** What is said of where the focus is. */
interface Focus {
  /** Element and name, for messages. */
  readonly what: string
  /** The page as a whole: nothing has the focus, or the browser's own controls have it. */
  readonly nowhere: boolean
  /** Whether it is drawn, within the window, and under nothing else. */
  readonly seen: boolean
}

/** Runs in the page. An outline of 2 pixels is what WCAG 2.2 asks of a focus that is seen (2.4.13). */
const READ_FOCUS = `(() => {
  const element = document.activeElement
  if (element === null || element === document.body) return { what: 'body', nowhere: true, seen: false }
  const name = element.getAttribute('aria-label') ?? element.labels?.[0]?.textContent ?? element.textContent
  const { outlineStyle, outlineWidth } = getComputedStyle(element)
  const { left, top, right, bottom } = element.getBoundingClientRect()
  const inside = right > 0 && bottom > 0 && left < innerWidth && top < innerHeight
  const middle = document.elementFromPoint(
    (Math.max(0, left) + Math.min(innerWidth, right)) / 2,
    (Math.max(0, top) + Math.min(innerHeight, bottom)) / 2,
  )
  const covered = middle === null || !(element.contains(middle) || middle.contains(element))
  return {
    what: element.localName + ' ' + (name ?? '').trim().slice(0, 40),
    nowhere: false,
    seen: outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2 && inside && !covered,
  }
})()`

export class Keyboard {
  readonly #page: Page
  readonly #t: Test

  constructor(page: Page, t: Test) {
    this.#page = page
    this.#t = t
  }

  press(key: 'Enter' | 'Space' | 'Escape' | 'ArrowDown' | 'ArrowUp' | 'Home' | 'End'): Promise<void> {
    return this.#page.keyboard.press(key)
  }

  type(text: string): Promise<void> {
    return this.#page.keyboard.type(text)
  }

  /** Presses Tab until a control has the focus; at every step it must be seen where the focus is. */
  async tabTo(role: AriaRole, name: string | RegExp, key: 'Tab' | 'Shift+Tab' = 'Tab'): Promise<void> {
    const passed: string[] = []
    await this.#page.getByRole(role, { name, exact: true }).first().waitFor()
    for (let step = 0; step < STEPS_MAXIMUM; step += 1) {
      await this.#page.keyboard.press(key)
      const { what, nowhere, seen } = await this.focus()
      passed.push(what)
      if (!nowhere && !seen) this.#t.fail(`the focus is not seen at: ${what}`)
      if (await this.isAt(role, name)) return
    }
    throw new Error(`Tab does not reach ${role} ${String(name)}, but: ${passed.join(' | ')}`)
  }

  /** Goes to a control and presses Enter. */
  async enter(role: AriaRole, name: string | RegExp): Promise<void> {
    await this.tabTo(role, name)
    await this.press('Enter')
  }

  /** Whether a control has the focus. */
  async isAt(role: AriaRole, name: string | RegExp): Promise<boolean> {
    const found = this.#page.getByRole(role, { name, exact: true })
    return found.evaluateAll((elements) => elements.some((element) => element === element.ownerDocument.activeElement))
  }

  /** The focus comes to a control; a page may give it a moment after what was asked for. */
  async expectFocusOn(role: AriaRole, name: string | RegExp): Promise<void> {
    for (let look = 0; look < 40 && !(await this.isAt(role, name)); look += 1) await this.#page.waitForTimeout(50)
    const { what, seen } = await this.focus()
    this.#t.ok(await this.isAt(role, name), `the focus is on ${role} ${String(name)}: ${what}`)
    this.#t.ok(seen, `it is seen: ${what}`)
  }

  async focus(): Promise<Focus> {
    return (await this.#page.evaluate(READ_FOCUS)) as Focus
  }
}
