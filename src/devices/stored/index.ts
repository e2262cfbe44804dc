/**
 * Text files of devices that several processes change concurrently.
 * The format of a text is up to the device.
 * Invariant: a change applies to the current text or not at all; no concurrent change is lost.
 */
export { changeText, readTextIfPresent } from './change-text.ts'
