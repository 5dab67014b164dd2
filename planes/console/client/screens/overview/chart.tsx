import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { formatTime } from '../../text/format.ts'

/** One line of a chart; null where there is no value. */
export interface Line {
  readonly label: string
  readonly values: readonly (number | null)[]
}

interface ChartProps {
  readonly label: string
  /** Ends of the steps, in seconds since 1970. */
  readonly times: readonly number[]
  /** Four at most. */
  readonly lines: readonly Line[]
  readonly format: (value: number) => string
  readonly scale: keyof typeof SCALES
}

const HEIGHT = 160
/** Strokes that distinguish lines without colour; the style sheet repeats them for the legend. */
const STROKES = [{ width: 2 }, { width: 2, dash: [8, 4] }, { width: 2, dash: [2, 3] }, { width: 1 }]
/** Seconds between labels of the time. */
const TIME_STEPS = [60, 300, 600, 900, 1800]
const FONT = '12px system-ui, sans-serif'

const powers = (base: number, from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => base ** (from + index))
const TENS = powers(10, -5, 3)

/** Vertical scales, and their labels. */
const SCALES = {
  counts: { scale: { range: fromZero }, axis: {} },
  bytes: { scale: { range: fromZero }, axis: { incrs: powers(2, 0, 50) } },
  /** Logarithmic, for values over several powers of ten: a label at each power. */
  times: {
    scale: {
      distr: 3,
      range: (_: uPlot, least: number, most: number): uPlot.Range.MinMax => {
        const below = TENS.findLast((ten) => ten <= least) ?? null
        return [below, TENS.find((ten) => ten > (below ?? 0) && ten >= most) ?? null]
      },
    },
    axis: {
      splits: (_: uPlot, __: number, least: number, most: number) => TENS.filter((ten) => ten >= least && ten <= most),
    },
  },
} as const satisfies Record<string, { readonly scale: uPlot.Scale; readonly axis: uPlot.Axis }>

function fromZero(_: uPlot, __: number, most: number): uPlot.Range.MinMax {
  return [0, most > 0 ? 1.1 * most : 1]
}

/** Lines over time. The legend, and a table of all values, make the canvas accessible. */
export function Chart({ label, times, lines, format, scale }: ChartProps) {
  const place = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot | undefined>(undefined)
  const [pointed, setPointed] = useState<number | null>()
  const data = useMemo(() => [times, ...lines.map(({ values }) => values)] as uPlot.AlignedData, [times, lines])
  const names = lines.map((line) => line.label).join()
  useEffect(() => {
    const host = place.current
    if (host === null || times.length === 0) return
    const drawn = new uPlot(optionsOf(host, lines, format, scale, setPointed), data, host)
    plot.current = drawn
    const sizes = new ResizeObserver(() => drawn.setSize({ width: host.clientWidth, height: HEIGHT }))
    sizes.observe(host)
    const unfollow = followColours(() => drawn.redraw(false))
    return () => {
      sizes.disconnect()
      unfollow()
      drawn.destroy()
    }
  }, [names, times.length === 0])
  useEffect(() => plot.current?.setData(data), [data])
  const at = pointed ?? times.length - 1
  const shown = (line: Line, index: number) => {
    const value = line.values[index]
    return value === null || value === undefined ? 'none' : format(value)
  }
  return (
    <section class="section">
      <h2>{label}</h2>
      {times.length === 0 ? (
        <p class="faint">The first value appears within half a minute.</p>
      ) : (
        <>
          <p class="legend">
            {lines.map((line, index) => (
              <span key={line.label}>
                <i class={`line-${index}`} /> {line.label} <strong>{shown(line, at)}</strong>
              </span>
            ))}
            <span class="faint">{clockTime(times[at] ?? 0)}</span>
          </p>
          <div ref={place} class="chart" aria-hidden="true" />
          <Values label={label} times={times} lines={lines} shown={shown} />
        </>
      )}
    </section>
  )
}

function optionsOf(
  host: HTMLElement,
  lines: readonly Line[],
  format: ChartProps['format'],
  scale: ChartProps['scale'],
  onPoint: (index: number | null | undefined) => void,
): uPlot.Options {
  const faint = () => getComputedStyle(host).color
  const grid = { stroke: () => getComputedStyle(host).borderTopColor, width: 1 }
  const axis = { stroke: faint, grid, ticks: { show: false }, font: FONT }
  return {
    width: host.clientWidth,
    height: HEIGHT,
    legend: { show: false },
    cursor: { y: false, drag: { setScale: false }, points: { size: 6 } },
    scales: { x: { time: false, range: (_, least, most) => [least, most] }, y: SCALES[scale].scale },
    axes: [
      { ...axis, size: 30, incrs: TIME_STEPS, values: (_, splits) => splits.map(clockTime) },
      {
        ...axis,
        ...SCALES[scale].axis,
        size: 70,
        values: (_, splits) => splits.map((split) => (split === null ? '' : format(split))),
      },
    ],
    series: [
      {},
      ...lines.map((_, index): uPlot.Series => {
        return {
          stroke: () => colourOf(host, index),
          ...STROKES[index],
          points: { show: false },
          // Without it the line would end before the last step, which is shorter.
          spanGaps: true,
        }
      }),
    ],
    hooks: { setCursor: [({ cursor }) => onPoint(cursor.idx)] },
  }
}

/** Colour of a line from the style sheet, as in the legend, in the current theme. */
function colourOf(host: HTMLElement, index: number): string {
  const sample = host.parentElement?.querySelector(`.line-${index}`)
  return sample ? getComputedStyle(sample).borderTopColor : ''
}

/** `04:05`, in the time zone of the browser. */
function clockTime(seconds: number): string {
  return formatTime(new Date(seconds * 1000).toISOString()).slice(11, 16)
}

interface ValuesProps extends Pick<ChartProps, 'label' | 'times' | 'lines'> {
  readonly shown: (line: Line, index: number) => string
}

/** Every value, newest first. */
function Values({ label, times, lines, shown }: ValuesProps) {
  const [isOpen, setOpen] = useState(false)
  return (
    <details open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{label} as a table</summary>
      {isOpen ? (
        <div class="scrolls values" role="region" aria-label={`${label}: values`} tabIndex={0}>
          <table>
            <thead>
              <tr>
                {['Until', ...lines.map((line) => line.label)].map((title) => (
                  <th scope="col" key={title}>
                    {title}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {times
                .map((time, index) => (
                  <tr key={time}>
                    <th scope="row">{clockTime(time)}</th>
                    {lines.map((line) => (
                      <td key={line.label}>{shown(line, index)}</td>
                    ))}
                  </tr>
                ))
                .toReversed()}
            </tbody>
          </table>
        </div>
      ) : null}
    </details>
  )
}

/** Calls `onChange` when the page changes between light and dark. Returns a function that stops this. */
function followColours(onChange: () => void): () => void {
  const system = matchMedia('(prefers-color-scheme: dark)')
  const chosen = new MutationObserver(onChange)
  system.addEventListener('change', onChange)
  chosen.observe(document.documentElement, { attributeFilter: ['style'] })
  return () => {
    system.removeEventListener('change', onChange)
    chosen.disconnect()
  }
}
