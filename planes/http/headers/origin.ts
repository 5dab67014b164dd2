/** A name or an address with an optional port: no characters with a meaning in a policy or a header. */
const ORIGIN = /^https?:\/\/(?:[a-z0-9_-]+(?:\.[a-z0-9_-]+)*|\[[0-9a-f:.]+\])(?::\d{1,5})?$/

/** Whether a text is an origin that can be used unescaped in a header and in a source list. */
export function isHarmlessOrigin(text: string): boolean {
  return ORIGIN.test(text)
}

/** Whether a text is an origin as browsers send it (RFC 6454 section 6.2): in lower case, without the standard port. */
export function isOrigin(text: string): boolean {
  return isHarmlessOrigin(text) && URL.canParse(text) && new URL(text).origin === text
}
