/** Scripts with another result on InMemoryFs than on ours, and the reason. */
interface Difference {
  readonly reason: string
  readonly scripts: readonly string[]
}

/** All differences: the test fails if another script differs, or if one of these does not. */
export const differences: readonly Difference[] = [
  {
    reason: 'InMemoryFs follows links when it reads, but not when it writes, makes, moves, removes or lists',
    scripts: [
      'archives: tar keeps links',
      'copies: a directory onto a link of a directory',
      'copies: onto a link of a directory',
      'edits: grep of names',
      'edits: grep recursively',
      'edits: sed through a link',
      'links: a link made through a link',
      'links: a link to a directory is listed',
      'links: cp through a link',
      'links: mkdir through a link',
      'links: mv through a link',
      'links: rm through a link',
      'moves: into a directory by a link',
      'redirections: appending through a link',
      'redirections: writing through a link',
      'redirections: writing through a link to a directory',
    ],
  },
  {
    reason:
      'chmod(2) follows links; InMemoryFs changes the link. just-bash asks for links below a directory as well',
    scripts: ['links: chmod through a link', 'permissions: chmod recursively over a link'],
  },
  {
    reason: 'cp without -r copies what a link leads to; InMemoryFs copies the link',
    scripts: ['copies: a link copies its file'],
  },
  {
    reason: 'the names of a file share its content, mode and time; on InMemoryFs a change parts them',
    scripts: [
      'links: a hard link is appended to under one name',
      'links: a hard link is changed under one name',
      'links: copying over a hard link',
      'links: modes are of the file, not the name',
      'links: times are of the file, not the name',
    ],
  },
  {
    reason: 'a file that is overwritten keeps its mode; InMemoryFs makes it 644',
    scripts: [
      'generated: 3',
      'permissions: a script keeps its mode when it is rewritten',
      'permissions: sed -i keeps a mode',
    ],
  },
  {
    reason: 'cp -r gives a new directory the mode of the old one; InMemoryFs makes it 755',
    scripts: ['copies: modes of directories come along'],
  },
  {
    reason: 'nothing can be below a file; InMemoryFs keeps it where nobody finds it',
    scripts: [
      'errors: cp below a file',
      'errors: ln below a file',
      'errors: mv below a file',
      'errors: tee below a file',
      'errors: touch of a directory below a file',
      'moves: mkdir below a file',
      'redirections: writing below a file',
    ],
  },
  {
    reason: 'a file does not replace a directory; on InMemoryFs it does, and hides what was in it',
    scripts: [
      'copies: a file over a directory of the same name',
      'moves: a file over a directory of its name',
      'redirections: tee cannot write a directory',
    ],
  },
  {
    reason: 'a directory replaces only an empty one; InMemoryFs merges them',
    scripts: ['moves: a directory onto a full one of its name'],
  },
  {
    reason: 'the same error, for the call that was made',
    scripts: ['copies: a directory over a file', 'moves: a directory over a file'],
  },
  {
    reason: 'a name has at most 255 bytes, as on any disk',
    scripts: ['errors: a too long name'],
  },
  {
    reason: '>> alone does not change a file; on InMemoryFs it is new',
    scripts: ['redirections: appending nothing to a file leaves it'],
  },
]
