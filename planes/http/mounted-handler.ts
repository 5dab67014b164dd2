import type { HttpHandler } from './exchange.ts'

/** A handler that passes requests to matching paths to `mount`, all others to `rest`. */
export function mounted(paths: RegExp, mount: HttpHandler, rest: HttpHandler): HttpHandler {
  return (request) => (paths.test(request.path) ? mount(request) : rest(request))
}
