/** What people call things; in UTF-16 units, without control characters. Nothing is found by it, so it may repeat. */
export const NAME = { minimum: 1, maximum: 128 } as const
export const DESCRIPTION = { minimum: 0, maximum: 1024 } as const
