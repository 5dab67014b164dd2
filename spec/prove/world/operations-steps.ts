/** What operators do, and what workers do for them. */
import * as fc from 'fast-check'
import type { Step } from '../../model/steps.ts'
import { webhookStep } from './webhook-steps.ts'

export const operationsStep: fc.Arbitrary<Step> = fc.oneof({ weight: 4, arbitrary: webhookStep })
