/**
 * The contract of a file system as tests: a backend's author passes a factory and a test runner.
 * Not a test runner itself, and never imported by the product.
 * Invariant: what is tested follows from declared capabilities; an exception needs a reason.
 */
export type { Runner, Seed, Subject, TestContext } from './subject.ts'
export { fileSystemSuite } from './suite.ts'
