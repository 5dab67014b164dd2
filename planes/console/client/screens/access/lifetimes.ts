/** Choices of lifetime: in seconds, or unlimited. */
export const LIFETIMES = [
  ['', 'until it is taken back'],
  ['3600', 'for an hour'],
  ['86400', 'for a day'],
  ['604800', 'for a week'],
  ['2592000', 'for 30 days'],
  ['31536000', 'for a year'],
] as const
export type Lifetime = (typeof LIFETIMES)[number][0]
