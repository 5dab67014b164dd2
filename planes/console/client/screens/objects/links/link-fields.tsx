import { Choice } from '../../../parts/field.tsx'

/** How long a link lasts, in seconds; `never` where the deployment permits it, `kept` as it is. */
export type Lifetime = 'kept' | '3600' | '86400' | '604800' | '2592000' | 'never'

const LIFETIMES: readonly (readonly [Lifetime, string])[] = [
  ['kept', 'as long as before'],
  ['3600', 'an hour'],
  ['86400', 'a day'],
  ['604800', 'a week'],
  ['2592000', '30 days'],
  ['never', 'until it is revoked'],
]

interface LifetimeChoiceProps {
  readonly value: Lifetime
  readonly onChange: (value: Lifetime) => void
  /** Of the deployment, in seconds; null without one. */
  readonly maximum: number | null
  /** Whether it may stay as it is. */
  readonly keeps?: boolean
}

export function LifetimeChoice({ value, onChange, maximum, keeps = false }: LifetimeChoiceProps) {
  const options = LIFETIMES.filter(([seconds]) => {
    if (seconds === 'kept') return keeps
    return maximum === null || (seconds !== 'never' && Number(seconds) <= maximum)
  })
  return <Choice label="It lasts" value={value} onChange={onChange} options={options} />
}

/** As the interface takes it. */
export function secondsOf(lifetime: Lifetime): number | null {
  return lifetime === 'never' ? null : Number(lifetime)
}

/** What both dialogs are given. */
export interface LinkTarget {
  readonly bucket: string
  readonly objectKey: string
  readonly changed: () => void
  readonly onClose: () => void
}
