/** In the projections: the names of its tables. */
export const checkpoints = {
  tables: {
    checkpoints: 'checkpoints',
    checkpointMarks: 'checkpoint-marks',
    checkpointsUnpublished: 'checkpoints-unpublished',
    checkpointHandovers: 'checkpoint-handovers',
    receipts: 'receipts',
    witnessedLogs: 'witnessed-logs',
  },
} as const
