import { type Microseconds, microsecondsOf, type Milliseconds, millisecondsOf } from './brands.ts'

/** Microseconds since 1970. Injected, so that specs can set it. */
export type Clock = () => Microseconds

/** The host's clock, exact to milliseconds, which is all that S3 shows. */
export const systemClock: Clock = () => microsecondsOf(Date.now() * 1000)

/** The host's clock in milliseconds since 1970, for requests. */
export const systemMilliseconds: () => Milliseconds = () => millisecondsOf(Date.now())
