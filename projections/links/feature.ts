/** In the projections: the names of its tables. */
export const links = {
  tables: {
    shares: 'shares',
    shareDigests: 'share-digests',
    shareTargets: 'share-targets',
    embeds: 'embeds',
    embedDigests: 'embed-digests',
    embedTargets: 'embed-targets',
  },
} as const
