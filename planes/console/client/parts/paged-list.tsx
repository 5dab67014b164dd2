import type { ComponentChildren } from 'preact'
import { ErrorBox } from './error-box.tsx'
import { VirtualList } from './virtual-list.tsx'

/** The result of `usePages`. */
interface Pages<T> {
  readonly items: readonly T[]
  readonly more: boolean
  readonly begun: boolean
  readonly error: unknown
  readonly loadMore: () => void
}

interface PagedListProps<T> {
  readonly label: string
  readonly columns: readonly { readonly title: ComponentChildren; readonly class: string }[]
  readonly pages: Pages<T>
  readonly keyOf: (item: T) => string
  /** One cell for each column, in their order. */
  readonly cells: (item: T) => readonly ComponentChildren[]
  /** Shown in place of an empty list. */
  readonly empty: ComponentChildren
}

/** A list that is loaded page by page, the text for an empty list, or the error. */
export function PagedList<T>({ label, columns, pages, keyOf, cells, empty }: PagedListProps<T>) {
  const { items, begun, error } = pages
  return (
    <>
      {error === undefined ? null : <ErrorBox error={error} retry={pages.loadMore} />}
      {!begun && error === undefined ? <p aria-busy="true">Loading…</p> : null}
      {begun && items.length === 0 ? empty : null}
      {items.length > 0 ? (
        <VirtualList
          label={label}
          columns={columns}
          count={items.length}
          more={pages.more}
          onEnd={pages.loadMore}
          keyOf={(index) => keyOf(items[index] as T)}
          row={(index) =>
            cells(items[index] as T).map((cell, place) => (
              <div role="cell" class={columns[place]?.class ?? ''} key={columns[place]?.class}>
                {cell}
              </div>
            ))
          }
        />
      ) : null}
    </>
  )
}
