/**
 * The one file that touches the environment of the process. The entry file imports it before anything else: the HTTP
 * library takes its header limit from the environment once, at the moment it is loaded, and worker threads get a copy
 * of what the environment holds when they are started.
 */

/**
 * Bytes of request line and headers that are accepted. The library's own 4 KiB is too small for a signed request with
 * 2 KiB of user metadata and a key of 1,024 bytes that is percent-encoded (3 KiB), twice over in a copy.
 */
const HEADER_BYTES_MAXIMUM = 16_384

process.env['UWS_HTTP_MAX_HEADERS_SIZE'] = String(HEADER_BYTES_MAXIMUM)

/** The environment as it was when the process started. */
export const environment: Readonly<Record<string, string | undefined>> = Object.freeze({ ...process.env })
