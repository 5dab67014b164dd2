import { HEADER_BYTES_MAXIMUM, HEADER_BYTES_VARIABLE } from '../planes/http/header-limits.ts'

/**
 * The one file that touches the environment of the process. The entry file imports it before anything else: the HTTP
 * library takes its header limit from the environment once, at the moment it is loaded, and worker threads get a copy
 * of what the environment holds when they are started. The library's own 4 KiB is too small for a signed request with
 * 2 KiB of user metadata and a key of 1,024 bytes that is percent-encoded (3 KiB), twice over in a copy.
 */
process.env[HEADER_BYTES_VARIABLE] = String(HEADER_BYTES_MAXIMUM)

/** The environment as it was when the process started. */
export const environment: Readonly<Record<string, string | undefined>> = Object.freeze({ ...process.env })
