import type { PathChange } from './protocols.ts'

/** A permission that lets a program run with the rights of its owner or its group. */
export type SpecialBit = 'setuid' | 'setgid'

/** The mask of all special bits in a mode. */
export const SPECIAL_BITS = 0o6000

const BITS: Readonly<Record<SpecialBit, number>> = { setuid: 0o4000, setgid: 0o2000 }
const NAMES: readonly SpecialBit[] = ['setuid', 'setgid']

/** Returns the special bits that a mode has. */
export function listSpecialBits(mode: number): SpecialBit[] {
  return NAMES.filter((name) => (mode & BITS[name]) !== 0)
}

/** Returns the special bits that a change added to a file. On a directory they grant no rights. */
export function listGainedBits({ before, after }: PathChange): SpecialBit[] {
  return after?.type === 'file' ? listSpecialBits((after.mode ?? 0) & ~(before?.mode ?? 0)) : []
}
