/**
 * Words as people read them: names that cannot steer a terminal, commands, and what a mistyped word was meant to be.
 * Shared by the configuration, patches and the command line, which start without the store.
 * Invariant: it imports nothing.
 */

export { escapeName, escapeText } from './escape.ts'
export { findAllNearest, findNearest } from './find-nearest.ts'
export { fitsInQuestion, formatApproval } from './format-approval.ts'
