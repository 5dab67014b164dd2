/** Selects elements that the keyboard can reach. */
const FOCUSABLE = ':is(a[href], button, input, select, textarea, summary, [tabindex="0"]):not(:disabled, [hidden])'
/** Containers that take the focus themselves, rather than an unexpected control in them. */
const PLACES = 'main, aside, dialog'

/** Whether no control has the focus, which a browser drops when its element is removed. */
export function isFocusAstray(): boolean {
  const { activeElement: active, body } = document
  return active === null || active === body || active.localName === 'main'
}

/**
 * Keeps the focus for keyboard users. If the focused control disappears, focus moves to its replacement; if it is
 * disabled for a while, focus returns to it afterwards. A click next to a control, or leaving the page by Tab, drops
 * the focus as usual.
 * @returns a function that stops this
 */
export function keepFocus(): () => void {
  const control = new AbortController()
  const { signal } = control
  let last: Element | undefined
  let around: readonly Element[] = []
  const forget = () => {
    last = undefined
  }
  const remember = ({ target }: FocusEvent) => {
    if (!(target instanceof Element)) return
    last = target
    around = ancestorsOf(target)
  }
  const restore = () => {
    if (last === undefined || document.activeElement !== document.body || !document.hasFocus()) return
    if (last.isConnected) {
      if (last instanceof HTMLElement && !last.matches(':disabled')) last.focus({ preventScroll: true })
      return
    }
    placeNear(around)?.focus({ preventScroll: true })
  }
  document.addEventListener('focusin', remember, { signal })
  document.addEventListener('pointerdown', forget, { signal, capture: true })
  document.addEventListener('keydown', ({ key }) => key === 'Tab' && forget(), { signal, capture: true })
  const observer = new MutationObserver(restore)
  observer.observe(document.body, { subtree: true, childList: true, attributeFilter: ['disabled'] })
  signal.addEventListener('abort', () => observer.disconnect())
  return () => control.abort()
}

function ancestorsOf(element: Element): Element[] {
  const found: Element[] = []
  for (let each = element.parentElement; each !== null; each = each.parentElement) found.push(each)
  return found
}

/** The nearest container or control around a removed control. */
function placeNear(around: readonly Element[]): HTMLElement | undefined {
  for (const element of around) {
    if (!element.isConnected) continue
    if (element instanceof HTMLElement && element.matches(PLACES)) return element
    const place = element.querySelector<HTMLElement>('main[tabindex]') ?? element.querySelector<HTMLElement>(FOCUSABLE)
    if (place !== null) return place
  }
  return undefined
}
