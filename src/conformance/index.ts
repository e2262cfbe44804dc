/**
 * The contract of a file system as tests. The author of a backend passes a factory and a test runner. It is no test
 * runner itself, and the product never imports it. Invariant: the declared capabilities decide which tests run; an
 * exception needs a reason.
 */
export type { Runner, Seed, Subject, TestContext } from './subject.ts'
export { fileSystemSuite } from './suite.ts'
