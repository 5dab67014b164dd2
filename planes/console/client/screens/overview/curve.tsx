import type { TargetedKeyboardEvent } from 'preact'
import { useState } from 'preact/hooks'
import { formatTime } from '../../text/format.ts'
import type { Point } from './readings.ts'

interface CurveProps {
  readonly label: string
  readonly points: readonly Point[]
  readonly format: (value: number) => string
}

const [WIDTH, HEIGHT] = [300, 80]

/** A curve over time. The pointer or the arrow keys choose a point, whose value is told. */
export function Curve({ label, points, format }: CurveProps) {
  const [chosen, setChosen] = useState<number>()
  const last = points.length - 1
  const at = Math.max(0, Math.min(chosen ?? last, last))
  const point = points[at]
  if (point === undefined) {
    return (
      <section class="section">
        <h2>{label}</h2>
        <p class="faint">The first value comes within half a minute.</p>
      </section>
    )
  }
  const most = Math.max(...points.map(({ value }) => value))
  const [xOf, yOf] = [
    (index: number) => (last === 0 ? WIDTH : (index / last) * WIDTH),
    (value: number) => HEIGHT - 2 - (most === 0 ? 0 : (value / most) * (HEIGHT - 4)),
  ]
  const onKeyDown = (event: TargetedKeyboardEvent<HTMLDivElement>) => {
    const target = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: last }[event.key]
    if (target === undefined) return
    event.preventDefault()
    setChosen(Math.max(0, Math.min(last, target)))
  }
  return (
    <section class="section">
      <h2>{label}</h2>
      <p>
        <strong>{format(point.value)}</strong>{' '}
        <span class="faint">
          {formatTime(point.time)}, at most {format(most)}
        </span>
      </p>
      <div
        class="curve"
        role="slider"
        tabIndex={0}
        aria-label={`${label} over the last hour`}
        aria-valuemin={0}
        aria-valuemax={last}
        aria-valuenow={at}
        aria-valuetext={`${format(point.value)}, ${formatTime(point.time)}`}
        onKeyDown={onKeyDown}
        onPointerLeave={() => setChosen(undefined)}
        onPointerMove={(event) => {
          const { left, width } = event.currentTarget.getBoundingClientRect()
          setChosen(Math.round(((event.clientX - left) / width) * last))
        }}
      >
        <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
          <polyline points={points.map(({ value }, index) => `${xOf(index)},${yOf(value)}`).join(' ')} />
          <line x1={xOf(at)} x2={xOf(at)} y1={0} y2={HEIGHT} />
        </svg>
      </div>
    </section>
  )
}
