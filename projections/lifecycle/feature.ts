/** In the projections: the names of its tables. */
export const lifecycle = {
  tables: {
    lifecycle: 'lifecycle',
    lifecycleRules: 'lifecycle-rules',
  },
} as const
