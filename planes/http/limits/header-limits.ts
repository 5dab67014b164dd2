/**
 * Bounds on a request head, and how they are passed to uWebSockets.js.
 *
 * uWebSockets.js reads its bound from the environment once, when the module loads; in a worker thread it reads the
 * environment of the main thread. So the entry file of the program sets
 * `process.env[HEADER_BYTES_VARIABLE] = String(HEADER_BYTES_READ_MAXIMUM)` before `uws-apps.ts` is imported (by
 * `chooseDriver` and `listen`, when they are called) and before a worker starts. Later assignments have no effect.
 */

/** Maximum bytes of request line and headers together; a longer head is answered 431. */
export const HEADER_BYTES_MAXIMUM = 16_384

/**
 * Maximum bytes of a head that uWebSockets.js reads. Above HEADER_BYTES_MAXIMUM, because it answers a longer head by
 * itself without a request id; not far above, because it buffers that much of every incomplete head.
 */
export const HEADER_BYTES_READ_MAXIMUM = 32_768

/** The variable the library reads when it loads. Without it the bound is 4,096 bytes. */
export const HEADER_BYTES_VARIABLE = 'UWS_HTTP_MAX_HEADERS_SIZE'

/** Maximum header lines of a request; more are answered 431. Fixed inside uWebSockets.js. */
export const HEADER_LINES_MAXIMUM = 98
