/** What to do about damage that a backup repairs. */
export const HEAL_ADVICE =
  'object-store storage heal --from BACKUP puts back what a backup has, with the server stopped'
