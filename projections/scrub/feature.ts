/** In the projections: the names of its tables. */
export const scrub = {
  tables: {
    scrub: 'scrub',
  },
} as const
