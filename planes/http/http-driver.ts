/**
 * The two HTTP drivers. uWebSockets.js is faster, and comes as binaries for some platforms and versions of Node;
 * node:http is always available. Both keep to the same bounds, and planes cannot tell them apart.
 */

export type HttpDriver = 'uws' | 'node'

/** Versions of Node that let several listeners of node:http share a port: 22.12, and all since 23.1. */
export function sharesPorts(driver: HttpDriver, nodeVersion: string): boolean {
  if (driver === 'uws') return true
  const [major = 0, minor = 0] = nodeVersion.split('.').map(Number)
  return major > 23 || (major === 23 && minor >= 1) || (major === 22 && minor >= 12)
}
