import { statSync } from 'node:fs'

const OTHERS_READ = 0o004

/**
 * A warning that every user of the machine can read a file that holds a secret, or undefined. It is not a refusal:
 * secrets in containers are files with such modes, and a container has no other users.
 */
export function exposureWarning(path: string): string | undefined {
  const mode = statSync(path).mode & 0o777
  if ((mode & OTHERS_READ) === 0) return undefined
  return `${path} holds a secret and every user of this machine can read it (mode ${mode.toString(8)}); close it with: chmod 600 '${path}'`
}
