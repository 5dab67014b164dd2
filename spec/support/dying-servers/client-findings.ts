/** What clients of a dying server count, and what they find when it is back. */

export interface ClientCounts {
  acknowledged: number
  unanswered: number
}

/** Something that is not as it was acknowledged: gone, or there and not as it must be. */
export interface Finding {
  readonly kind: 'lost' | 'wrong'
  readonly text: string
}

export function lost(text: string): Finding {
  return { kind: 'lost', text }
}

export function wrong(text: string): Finding {
  return { kind: 'wrong', text }
}
