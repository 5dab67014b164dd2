/** Time of day in microseconds since 1970. Injected, so that specs can set it. */
export type Clock = () => number

/** The host's clock; it is as exact as milliseconds, which is all that S3 shows. */
export const systemClock: Clock = () => Date.now() * 1000
