import type { Route } from './define-route.ts'

/** Routes of a feature, and the route that the pages show before them. */
export interface PlacedRoutes {
  /** Method and whole path, such as `GET /api/v1/buckets/{bucket}`. */
  readonly after: string
  readonly routes: readonly Route[]
}

/** @throws Error when no route has the pattern that others come after */
export function withRoutes(spine: readonly Route[], placed: readonly PlacedRoutes[]): Route[] {
  const all = [...spine]
  for (const { after, routes } of placed) {
    const index = all.findIndex(({ method, path }) => `${method} ${path}` === after)
    if (index === -1) throw new Error(`no route is ${after}`)
    all.splice(index + 1, 0, ...routes)
  }
  return all
}
