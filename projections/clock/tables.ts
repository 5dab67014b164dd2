/** The names of its tables (`projections/tables/ends.ts`). */
export const clockTables = { lockEnds: 'lock-ends' } as const
