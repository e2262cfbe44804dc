/** A Python program and its output: `say` prints, `failure` returns the name of an exception's errno. */
export interface Program {
  readonly name: string
  readonly code: string
  readonly says: readonly string[]
  /** True if Emscripten's own files in memory cannot do this correctly. */
  readonly isBeyondMemfs?: true
}

/** Helpers of the programs. */
export const PRELUDE = `
import errno, json, mmap, os, shutil, sqlite3, stat, sys, tempfile
from pathlib import Path

def failure(act):
    try:
        act()
    except OSError as error:
        return errno.errorcode[error.errno]
    return "done"

def run(root, code):
    said = []
    os.makedirs(root, exist_ok=True)
    os.chdir(root)
    names = dict(globals(), root=root, say=lambda *things: said.append(" ".join(map(str, things))))
    try:
        exec(code, names)
    finally:
        os.chdir("/")
    return json.dumps(said)
`

export const programs: readonly Program[] = [
  {
    name: 'writes, appends, seeks and truncates',
    code: `
with open("f", "w") as f: f.write("one\\n")
with open("f", "a") as f: f.write("two\\n")
with open("f", "r+b") as f:
    f.seek(-4, 2)
    f.write(b"TWO")
    say(f.tell())
    f.truncate(6)
say(repr(open("f").read()), os.path.getsize("f"))
with open("f", "r+b") as f:
    f.seek(9)
    f.write(b"!")
say(open("f", "rb").read())
os.truncate("f", 2)
say(open("f").read(), failure(lambda: open("f", "x")), failure(lambda: open("missing")))`,
    says: ['7', "'one\\nTW' 6", "b'one\\nTW\\x00\\x00\\x00!'", 'on EEXIST ENOENT'],
  },
  {
    name: 'lists, walks, moves and removes directories',
    code: `
os.makedirs("d/e/f")
for name in ["b", "a", "c"]: Path("d", name).touch()
say(sorted(os.listdir("d")), [(e.name, e.is_dir()) for e in sorted(os.scandir("d"), key=lambda e: e.name)])
say(sorted((len(dirs), sorted(files)) for _, dirs, files in os.walk(".")))
say(failure(lambda: os.rmdir("d")), failure(lambda: os.unlink("d")), failure(lambda: os.rmdir("d/a")))
say(failure(lambda: os.mkdir("d")), failure(lambda: os.listdir("d/a")), failure(lambda: open("d/a/b")))
os.rename("d", "g")
say(os.path.exists("d"), sorted(os.listdir("g")))
os.replace("g/a", "g/b")
say(sorted(os.listdir("g")), failure(lambda: os.rename("g", "g/e/x")), failure(lambda: os.rename("g/b", "g/e")))
shutil.copytree("g", "h")
shutil.rmtree("g")
say(os.listdir("."), sorted(os.listdir("h")))`,
    says: [
      "['a', 'b', 'c', 'e'] [('a', False), ('b', False), ('c', False), ('e', True)]",
      "[(0, []), (1, []), (1, []), (1, ['a', 'b', 'c'])]",
      'ENOTEMPTY EISDIR ENOTDIR',
      'EEXIST ENOTDIR ENOTDIR',
      "False ['a', 'b', 'c', 'e']",
      "['b', 'c', 'e'] EINVAL EISDIR",
      "['h'] ['b', 'c', 'e']",
    ],
  },
  {
    name: 'renames over what is there as POSIX does',
    code: `
os.makedirs("full/x"); os.mkdir("empty"); os.mkdir("other"); Path("file").touch()
say(failure(lambda: os.rename("empty", "full")), failure(lambda: os.rename("empty", "file")))
os.rename("full", "other")
os.rename("file", "file")
os.rename("file", "moved"); open("file", "w").close()
say(sorted(os.listdir(".")), os.listdir("other"))`,
    says: ['ENOTEMPTY ENOTDIR', "['empty', 'file', 'moved', 'other'] ['x']"],
  },
  {
    name: 'has symbolic links, relative, absolute and broken',
    code: `
os.mkdir("d"); Path("d/f").write_text("in d")
os.symlink("d/f", "relative"); os.symlink(root + "/d", "absolute"); os.symlink("nowhere", "broken")
say(Path("relative").read_text(), Path("absolute/f").read_text(), os.readlink("relative"))
say(os.readlink("absolute") == root + "/d", os.path.realpath("absolute/f") == root + "/d/f")
say(os.path.islink("broken"), os.path.exists("broken"), failure(lambda: open("broken")))
Path("relative").write_text("through"); say(Path("d/f").read_text())
os.unlink("relative"); say(sorted(os.listdir(".")), os.path.exists("d/f"))
os.symlink("loop", "loop"); say(failure(lambda: open("loop")), failure(lambda: os.readlink("d")))`,
    says: [
      'in d in d d/f',
      'True True',
      'True False ENOENT',
      'through',
      "['absolute', 'broken', 'd'] True",
      'ELOOP EINVAL',
    ],
  },
  {
    name: 'has permissions and times',
    code: `
Path("f").touch(); os.mkdir("d")
os.chmod("f", 0o400); say(oct(os.stat("f").st_mode), failure(lambda: open("f", "w")))
os.chmod("f", 0o755); os.utime("f", (1, 1_700_000_000.25))
say(oct(os.stat("f").st_mode), os.stat("f").st_mtime, stat.S_ISDIR(os.stat("d").st_mode))
with open("f", "r+") as f:
    os.fchmod(f.fileno(), 0o640); os.ftruncate(f.fileno(), 5)
    say(oct(os.fstat(f.fileno()).st_mode), os.fstat(f.fileno()).st_size)
shutil.copy2("f", "g"); say(oct(os.stat("g").st_mode))`,
    says: ['0o100400 EACCES', '0o100755 1700000000.25 True', '0o100640 5', '0o100640'],
  },
  {
    name: 'masks the permissions of what is made',
    code: `
Path("f").touch(); os.mkdir("d"); os.close(os.open("x", os.O_CREAT | os.O_WRONLY, 0o770))
say([oct(os.stat(name).st_mode & 0o777) for name in ["f", "d", "x"]])`,
    says: ["['0o644', '0o755', '0o750']"],
    isBeyondMemfs: true,
  },
  {
    name: 'has hard links and distinguishes files',
    code: `
Path("f").write_text("one"); os.link("f", "g"); Path("h").write_text("one")
Path("g").write_text("two"); say(Path("f").read_text(), os.stat("f").st_nlink)
say(os.path.samefile("f", "g"), os.path.samefile("f", "h"), failure(lambda: os.link("f", "h")))
os.rename("f", "g"); say(sorted(os.listdir(".")))
os.unlink("f"); say(os.stat("g").st_nlink, failure(lambda: os.link("/tmp", "t")))`,
    says: ['two 2', 'True False EEXIST', "['f', 'g', 'h']", '1 EXDEV'],
    isBeyondMemfs: true,
  },
  {
    name: 'goes on with a file that is removed, renamed or duplicated while it is open',
    code: `
f = open("f", "w+"); f.write("kept"); f.flush()
os.unlink("f"); say(os.path.exists("f"), os.fstat(f.fileno()).st_size)
f.seek(0); say(f.read()); f.write(" on"); f.seek(0); say(f.read()); f.close()
g = open("g", "w+"); g.write("a"); g.flush(); os.rename("g", "h"); g.write("b"); g.flush()
say(open("h").read()); g.close()
fd = os.open("h", os.O_RDWR | os.O_APPEND); copy = os.dup(fd); os.close(fd)
os.write(copy, b"c"); os.close(copy); say(open("h").read())
writer = open("shared", "w"); writer.write("seen"); writer.flush(); reader = open("shared")
say(os.path.getsize("shared"), reader.read()); writer.write(" later"); writer.close(); say(reader.read())
os.mkdir("d"); inside = open("d/f", "w"); inside.write("one"); inside.flush(); os.rename("d", "e")
inside.write(" two"); inside.close(); say(sorted(os.listdir(".")), open("e/f").read())`,
    says: ['False 4', 'kept', 'kept on', 'ab', 'abc', '4 seen', ' later', "['e', 'h', 'shared'] one two"],
  },
  {
    name: 'maps files in memory',
    code: `
with open("f", "w+b") as f:
    f.write(b"0123456789" * 20_000); f.flush()
    with mmap.mmap(f.fileno(), 0) as m:
        say(len(m), m[199_990:], m.find(b"90"))
        m[5:8] = b"abc"; m.flush()
    with mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ) as m: say(m[:10])
    with mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_COPY) as m: m[0] = 88
say(open("f", "rb").read(10), os.path.getsize("f"))`,
    says: ["200000 b'0123456789' 9", "b'01234abc89'", "b'01234abc89' 200000"],
  },
  {
    name: 'makes temporary files',
    code: `
with tempfile.TemporaryDirectory(dir=".") as d:
    with tempfile.NamedTemporaryFile(dir=d, delete=False) as f: f.write(b"x")
    say(len(os.listdir(d)))
with tempfile.TemporaryFile(dir=".") as f: f.write(b"x"); f.seek(0); say(f.read())
say(os.listdir("."))`,
    says: ['1', "b'x'", '[]'],
  },
  {
    name: 'lists a large directory that changes meanwhile',
    code: `
for i in range(200): Path(f"f{i:03}").touch()
seen = []
for entry in os.scandir("."):
    seen.append(entry.name)
    if len(seen) == 1:
        for i in range(100, 150): os.unlink(f"f{i:03}")
say(len(os.listdir(".")), set(os.listdir(".")) <= set(seen))`,
    says: ['150 True'],
    isBeyondMemfs: true,
  },
]

/** SQLite in each journal mode: two connections with locks, a rollback, an integrity check. */
export const sqliteProgram = (journal: string): string => `
a = sqlite3.connect("x.db", timeout=0)
say(a.execute("pragma journal_mode=${journal}").fetchone()[0])
a.execute("create table t (n, s)")
a.executemany("insert into t values (?, ?)", [(n, "x" * 200) for n in range(2000)]); a.commit()
b = sqlite3.connect("x.db", timeout=0)
a.execute("begin immediate"); a.execute("delete from t")
try:
    b.execute("begin immediate")
except sqlite3.OperationalError as error:
    say(error)
a.rollback()
say(*b.execute("select count(*), sum(n) from t").fetchone())
b.execute("delete from t where n >= 1000"); b.commit(); b.execute("vacuum")
say(*a.execute("select count(*) from t").fetchone(), *a.execute("pragma integrity_check").fetchone())
a.close(); b.close()
say(sorted(os.listdir(".")))`
