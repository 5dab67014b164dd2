/** In the projections: the names of its tables. */
export const webhooks = {
  tables: {
    webhooks: 'webhooks',
    webhookProgress: 'webhook-progress',
    webhookLog: 'webhook-log',
  },
} as const
