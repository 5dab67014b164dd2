/** Targets with bugs planted in them, which the fuzzer must find; and one without. */
import { accepted, type FuzzTarget, mustBeSame, refused } from './target.ts'

const bytesMaximum = 1024

/** A number from 0 to 999. */
const sound: FuzzTarget = {
  name: 'planted-nothing',
  seeds: ['0', '999'],
  bytesMaximum,
  judge: (input) => (/^\d{1,3}$/.test(input.toString('latin1')) ? accepted() : refused()),
}

const crashing: FuzzTarget = {
  ...sound,
  name: 'planted-crash',
  judge: (input) => {
    if (input.includes('%')) throw new RangeError('a percent sign')
    return sound.judge(input)
  },
}

const hanging: FuzzTarget = {
  ...sound,
  name: 'planted-hang',
  judge: (input) => {
    while (input[0] === 0x2f) input[1] = 1
    return sound.judge(input)
  },
}

/** Takes what the platform takes for a number. */
const accepting: FuzzTarget = {
  ...sound,
  name: 'planted-accept',
  judge: async (input) => {
    const text = input.toString('latin1')
    const isTaken = Number(text) >= 0 && Number(text) <= 999
    mustBeSame(isTaken, /^\d{1,3}$/.test(text), JSON.stringify(text))
    return isTaken ? accepted() : refused()
  },
}

const exhausting: FuzzTarget = {
  ...sound,
  name: 'planted-exit',
  judge: (input) => (input.includes('-') ? process.exit(1) : sound.judge(input)),
}

const deaf: FuzzTarget = { ...sound, name: 'planted-deaf', judge: () => refused() }
const credulous: FuzzTarget = { ...sound, name: 'planted-credulous', judge: () => accepted() }

export const TARGETS: readonly FuzzTarget[] = [crashing, hanging, accepting, exhausting, deaf, credulous, sound]
