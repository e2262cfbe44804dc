/**
 * `/dev/skills/manage`: agents make, change and delete skills while they run.
 * It writes to one place; skills that come from elsewhere are not its to change, nor to hide.
 * Invariant: what it wrote can be loaded, and says nothing the scanner objects to.
 */
export { skillsDevice } from './skills-device.ts'
