/**
 * Text for people: names that cannot control a terminal, approval requests, and suggestions for mistyped words. Shared
 * by the configuration, patches and the command line, which start without the store. Invariant: it imports nothing.
 */

export { escapeName, escapeText } from './escape.ts'
export { findAllNearest, findNearest } from './find-nearest.ts'
export { fitsInQuestion, formatApproval } from './format-approval.ts'
