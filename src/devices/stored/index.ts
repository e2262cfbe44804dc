/**
 * Texts that devices keep in a file system, where several processes change them at the same time.
 * What a device makes of a text is its own business.
 * Invariant: a change is made to what is there at that moment, or not at all; no change of another is lost.
 */
export { changeText, readTextIfPresent } from './change-text.ts'
