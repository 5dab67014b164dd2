import { largeObjectScenario } from '../large-objects.ts'

export const put64Mib = largeObjectScenario('PUT', 64)
