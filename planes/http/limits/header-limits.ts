/**
 * Bounds on a request head, and how they get into the HTTP library.
 *
 * uWebSockets.js takes its bound from the environment, once, when the module loads; in a worker thread it reads the
 * environment of the main thread. So the entry file of the program sets
 * `process.env[HEADER_BYTES_VARIABLE] = String(HEADER_BYTES_READ_MAXIMUM)` before anything imports `uws-apps.ts`
 * (which only `chooseDriver` and `listen` do, when they are called), and before any worker starts. Later assignments have no effect.
 */

/** Most bytes of request line and headers together; a longer head is answered 431. */
export const HEADER_BYTES_MAXIMUM = 16_384

/**
 * Most bytes of a head that uWebSockets.js reads. It answers a longer one by itself, without a request id, so this is more
 * than we take. It keeps as much of every head that has not come whole, so it is not much more.
 */
export const HEADER_BYTES_READ_MAXIMUM = 32_768

/** The variable the library reads when it loads. Without it the bound is 4,096 bytes. */
export const HEADER_BYTES_VARIABLE = 'UWS_HTTP_MAX_HEADERS_SIZE'

/** Most header lines of a request; one more is answered 431. Fixed inside the library. */
export const HEADER_LINES_MAXIMUM = 98
