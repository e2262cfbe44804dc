/**
 * Looks through texts that are to be kept and put before models again, memory and skills, and for where they are from.
 * It knows hidden characters, injected instructions, exfiltration and hijacked roles, also disguised; it is a filter, no proof.
 * Invariant: it decides by the text alone, in time that grows with its length.
 */
export { findOrigin, findPartialOrigin, type ListOrigins, type OriginalText } from './origin.ts'
export { type ScanFinding, scanText, type ThreatKind } from './scan.ts'
