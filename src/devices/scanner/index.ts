/**
 * Scans texts that are stored and shown to models again, such as memory and skills, and finds their origin.
 * It detects hidden characters, injection, exfiltration and role hijacking, also disguised; it is a filter, no proof.
 * Invariant: a finding depends on the text and on whether it is foreign, and the time is linear in its length.
 */
export { findOrigin, findPartialOrigin, type ListOrigins, type OriginalText } from './origin.ts'
export { type ScanFinding, scanText, type ThreatKind } from './scan.ts'
