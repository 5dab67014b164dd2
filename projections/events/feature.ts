/** In the projections: the names of its tables. */
export const events = {
  tables: {
    eventIndex: 'event-index',
    eventsBegan: 'events-began',
  },
} as const
