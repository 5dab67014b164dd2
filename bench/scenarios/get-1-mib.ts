import { largeObjectScenario } from '../large-objects.ts'

export const get1Mib = largeObjectScenario('GET', 1)
