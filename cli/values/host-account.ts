import { userInfo } from 'node:os'

/** Who runs this command, for records; an account without a name has its number. */
export function accountOfHost(): string {
  try {
    return `host:${userInfo().username}`
  } catch {
    return `host:${process.getuid?.() ?? 'unknown'}`
  }
}
