import { largeObjectScenario } from '../large-objects.ts'

export const get64Mib = largeObjectScenario('GET', 64)
