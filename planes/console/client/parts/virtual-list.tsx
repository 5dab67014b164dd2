import type { ComponentChildren } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { go } from '../app/router.ts'
import { formatCount } from '../text/format.ts'
import { nextSort } from './sorting.ts'
import { rowAfterKey, windowOf } from './virtual-rows.ts'

interface Column {
  readonly title: ComponentChildren
  /** Class of its cells. */
  readonly class: string
  /** Order that pressing the title selects. */
  readonly order?: string
}

interface VirtualListProps {
  /** Accessible name of the table. */
  readonly label: string
  readonly columns: readonly Column[]
  /** As `useSorted` takes it. */
  readonly sort?: string
  /** The address of the list in another order. */
  readonly sortedHref?: (sort: string) => string
  readonly count: number
  /** Whether more rows can be loaded at the end. */
  readonly more?: boolean
  readonly onEnd?: () => void
  /** Stable key of a row. */
  readonly keyOf: (index: number) => string
  /** The cells of a row. The first link or button in it gets the focus. */
  readonly row: (index: number) => ComponentChildren
  readonly isSelected?: (index: number) => boolean
}

/** Distance from the end of the list at which more is loaded. */
const AHEAD_PIXELS = 4000

/** Row height in pixels, equal to the style sheet's: larger on narrow screens, for touch. */
function rowHeightNow(): number {
  return matchMedia('(max-width: 40rem)').matches ? 60 : 44
}

/** A table of any length that renders only the rows around the visible part. Arrow keys move between rows. */
export function VirtualList(props: VirtualListProps) {
  const { label, columns, count, more = false, onEnd, keyOf, row, isSelected, sort = '', sortedHref } = props
  const box = useRef<HTMLDivElement>(null)
  const wanted = useRef<number | undefined>(undefined)
  const [place, setPlace] = useState({ top: 0, height: 600, rowHeight: rowHeightNow() })
  const { rowHeight } = place
  const read = () => {
    // The observer may fire once more after the list was removed.
    if (box.current === null) return
    const { scrollTop, clientHeight } = box.current
    setPlace({ top: scrollTop, height: clientHeight, rowHeight: rowHeightNow() })
  }
  useEffect(() => {
    const observer = new ResizeObserver(read)
    observer.observe(box.current as HTMLDivElement)
    return () => observer.disconnect()
  }, [])
  useEffect(() => {
    // Not while sorted: new rows would move the visible ones.
    if (more && sort === '' && place.top + place.height + AHEAD_PIXELS > count * rowHeight) onEnd?.()
  }, [place, count, more])
  useLayoutEffect(() => {
    if (wanted.current !== undefined && focusRow(box.current, wanted.current)) wanted.current = undefined
  })
  const onKeyDown = (event: KeyboardEvent) => {
    const at = rowOf(event.target)
    if (at === undefined || event.altKey || event.ctrlKey || event.metaKey) return
    const target = rowAfterKey(event.key, at, count, Math.max(1, Math.floor(place.height / rowHeight) - 1))
    if (target === undefined) return
    event.preventDefault()
    wanted.current = target
    bringIntoView(box.current as HTMLDivElement, target, rowHeight)
    if (focusRow(box.current, target)) wanted.current = undefined
    read()
  }
  const { from, to } = windowOf(place.top, place.height, rowHeight, count)
  const rows = Array.from({ length: to - from }, (_, offset) => from + offset)
  return (
    <>
      {sort !== '' && more ? <LoadedOnly count={count} onEnd={onEnd} /> : null}
      <div class="list" role="table" aria-label={label} aria-rowcount={more ? -1 : count + 1}>
        <div role="rowgroup">
          <div class="list-head" role="row" aria-rowindex={1}>
            {columns.map((column) => (
              <Title column={column} sort={sort} sortedHref={sortedHref} key={column.class} />
            ))}
          </div>
        </div>
        <div class="list-rows" role="rowgroup" ref={box} onScroll={read} onKeyDown={onKeyDown}>
          <div role="presentation" style={{ height: `${count * rowHeight}px`, position: 'relative' }}>
            {rows.map((index) => (
              <div
                class={isSelected?.(index) === true ? 'list-row selected' : 'list-row'}
                role="row"
                aria-rowindex={index + 2}
                data-row={index}
                key={keyOf(index)}
                style={{ transform: `translateY(${index * rowHeight}px)` }}
              >
                {row(index)}
              </div>
            ))}
          </div>
        </div>
      </div>
    </>
  )
}

interface LoadedOnlyProps {
  readonly count: number
  readonly onEnd: VirtualListProps['onEnd'] | undefined
}

function LoadedOnly({ count, onEnd }: LoadedOnlyProps) {
  return (
    <p class="notice">
      Only the {formatCount(count)} that are loaded are sorted.{' '}
      <button type="button" onClick={onEnd}>
        Load more
      </button>
    </p>
  )
}

interface TitleProps {
  readonly column: Column
  readonly sort: string
  readonly sortedHref: VirtualListProps['sortedHref'] | undefined
}

function Title({ column: { title, class: name, order }, sort, sortedHref }: TitleProps) {
  if (order === undefined || sortedHref === undefined) {
    return (
      <div role="columnheader" class={name}>
        {title}
      </div>
    )
  }
  const [up, down] = [sort === order, sort === `-${order}`]
  return (
    <div role="columnheader" class={name} aria-sort={up ? 'ascending' : down ? 'descending' : 'none'}>
      <button type="button" class="quiet" onClick={() => go(sortedHref(nextSort(sort, order)), true)}>
        {title} <span aria-hidden="true">{up ? '↑' : down ? '↓' : '↕'}</span>
      </button>
    </div>
  )
}

function rowOf(target: EventTarget | null): number | undefined {
  const row = target instanceof Element ? target.closest('[data-row]') : null
  return row === null ? undefined : Number(row.getAttribute('data-row'))
}

/** Focuses a row; false when it is not rendered yet. */
function focusRow(box: HTMLDivElement | null, index: number): boolean {
  const control = box?.querySelector<HTMLElement>(`[data-row="${index}"] :is(a, button)`)
  control?.focus({ preventScroll: true })
  return control !== null && control !== undefined
}

function bringIntoView(box: HTMLDivElement, index: number, rowHeight: number): void {
  const top = index * rowHeight
  if (top < box.scrollTop) box.scrollTop = top
  else if (top + rowHeight > box.scrollTop + box.clientHeight) box.scrollTop = top + rowHeight - box.clientHeight
}
