import type { HttpHandler } from './exchange.ts'

/** Requests to certain paths go to one handler, all others to the other. */
export function mounted(paths: RegExp, mount: HttpHandler, rest: HttpHandler): HttpHandler {
  return (request) => (paths.test(request.path) ? mount(request) : rest(request))
}
