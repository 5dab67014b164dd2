import { HEADER_BYTES_READ_MAXIMUM, HEADER_BYTES_VARIABLE } from '../planes/http/limits/header-limits.ts'

/**
 * The only file that touches the environment of the process. The entry file imports it first: the HTTP library reads its
 * header limit from the environment when it is loaded, and worker threads copy the environment when they start. The
 * library's default of 4 KiB is too small for a signed copy request with 2 KiB of user metadata and two percent-encoded
 * keys of 1,024 bytes (3 KiB each).
 */
process.env[HEADER_BYTES_VARIABLE] = String(HEADER_BYTES_READ_MAXIMUM)

/** The environment as it was when the process started. */
export const environment: Readonly<Record<string, string | undefined>> = Object.freeze({ ...process.env })
