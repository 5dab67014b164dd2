import { largeObjectScenario } from '../large-objects.ts'

export const put1Mib = largeObjectScenario('PUT', 1)
