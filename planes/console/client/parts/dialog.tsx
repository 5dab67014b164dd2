import type { ComponentChildren } from 'preact'
import { useEffect, useId, useLayoutEffect, useRef } from 'preact/hooks'

interface DialogProps {
  readonly title: string
  /** Escape, and the button that closes. Not called while `busy`. Undefined: it stays until its reason is gone. */
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
    // Otherwise the button that closes comes first.
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
    // A browser closes a dialog at a second Escape without asking, and others with it: the key must not reach it.
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
        // By a gesture, such as that of going back. What has to stay is opened again as it is.
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
