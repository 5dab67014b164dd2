import type { ComponentChildren } from 'preact'
import { useId, useLayoutEffect, useRef } from 'preact/hooks'

interface DialogProps {
  readonly title: string
  /** Escape, and the button that closes. Not called while `busy`. */
  readonly onClose: () => void
  readonly busy?: boolean
  readonly wide?: boolean
  readonly children: ComponentChildren
}

/** A modal dialog. The browser keeps the focus inside, makes the rest inert, and gives the focus back at the end. */
export function Dialog({ title, onClose, busy = false, wide = false, children }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null)
  const heading = useId()
  useLayoutEffect(() => {
    const dialog = element.current
    dialog?.showModal()
    // Otherwise the button that closes comes first.
    dialog?.querySelector<HTMLElement>('input, select')?.focus()
    return () => dialog?.close()
  }, [])
  return (
    <dialog
      ref={element}
      class={wide ? 'wide' : ''}
      aria-labelledby={heading}
      onCancel={(event) => {
        event.preventDefault()
        if (!busy) onClose()
      }}
    >
      <header class="dialog-head">
        <h2 id={heading}>{title}</h2>
        <button type="button" class="quiet" aria-label="Close" disabled={busy} onClick={onClose}>
          ✕
        </button>
      </header>
      {children}
    </dialog>
  )
}
