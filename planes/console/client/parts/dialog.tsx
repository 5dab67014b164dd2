import type { ComponentChildren } from 'preact'
import { useEffect, useId, useLayoutEffect, useRef } from 'preact/hooks'

interface DialogProps {
  readonly title: string
  /** Called on Escape and by the close button, but not while `busy`. Undefined: the user cannot close the dialog. */
  readonly onClose: (() => void) | undefined
  readonly busy?: boolean
  readonly wide?: boolean
  readonly children: ComponentChildren
}

/** A modal dialog. The browser keeps the focus inside, makes the rest inert, and gives the focus back at the end. */
export function Dialog({ title, onClose, busy = false, wide = false, children }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null)
  const isOver = useRef(false)
  const heading = useId()
  useLayoutEffect(() => {
    const dialog = element.current
    dialog?.showModal()
    // Otherwise the close button would get the focus.
    dialog?.querySelector<HTMLElement>('input, select')?.focus()
    return () => {
      isOver.current = true
      dialog?.close()
    }
  }, [])
  const leave = () => {
    if (!busy) onClose?.()
  }
  useEffect(() => {
    // At a second Escape browsers close a dialog, and others with it, without an event: the key must not reach them.
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== 'Escape' || [...document.querySelectorAll('dialog[open]')].at(-1) !== element.current) return
      event.preventDefault()
      leave()
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  })
  return (
    <dialog
      ref={element}
      class={wide ? 'wide' : ''}
      aria-labelledby={heading}
      onCancel={(event) => {
        event.preventDefault()
        leave()
      }}
      onClose={() => {
        // Closed by the browser, for example by a back gesture. A dialog that must stay is opened again with its
        // content.
        if (isOver.current) return
        leave()
        if (!isOver.current && element.current?.open === false) element.current.showModal()
      }}
    >
      <header class="dialog-head">
        <h2 id={heading}>{title}</h2>
        {onClose === undefined ? null : (
          <button type="button" class="quiet" aria-label="Close" disabled={busy} onClick={onClose}>
            ✕
          </button>
        )}
      </header>
      {children}
    </dialog>
  )
}
