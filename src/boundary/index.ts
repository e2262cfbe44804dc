/**
 * The execution boundary of a home: what a request is about is found here, and where its traces are kept.
 * How a command is judged, run and collected is for `workspace` to know.
 * Invariant: only vaults of this home and the directory that is named are ever touched.
 */
export { Boundary, type BoundaryRunOptions, type RunReport } from './boundary.ts'
