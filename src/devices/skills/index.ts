/**
 * `/dev/skills/manage`: agents create, change and delete skills while they run.
 * It writes to one directory; it neither changes nor hides skills from elsewhere.
 * Invariant: every skill it wrote can be loaded and passes the scanner.
 */
export { skillsDevice } from './skills-device.ts'
