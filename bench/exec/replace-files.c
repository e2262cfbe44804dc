// What replace-files.ts does, in C: it reads what is replaced, keeps a second name of it, writes each new file beside its
// place, puts it there in one step, and removes the second names at the end. Arguments: the new files, and the directory.
#define _GNU_SOURCE
#include <dirent.h>
#include <err.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static char buffer[1 << 20];
static const char *from, *to;
static int count;

static int is_hidden(const struct dirent *entry) { return entry->d_name[0] == '.'; }

static void check(int result, const char *path) {
  if (result < 0) err(1, "%s", path);
}

static DIR *open_directory(const char *path) {
  DIR *directory = opendir(path);
  if (directory == NULL) err(1, "%s", path);
  return directory;
}

static void read_whole(const char *path) {
  int file = open(path, O_RDONLY);
  check(file, path);
  while (read(file, buffer, sizeof buffer) > 0);
  close(file);
}

static void write_new(const char *source, const char *fresh) {
  int in = open(source, O_RDONLY), out = open(fresh, O_CREAT | O_EXCL | O_WRONLY, 0600);
  struct stat status;
  check(in, source);
  check(out, fresh);
  check(fstat(in, &status), source);
  for (ssize_t length; (length = read(in, buffer, sizeof buffer)) > 0;)
    check(write(out, buffer, length) == length ? 0 : -1, fresh);
  struct timespec times[2] = {status.st_mtim, status.st_mtim};
  check(fchmod(out, status.st_mode & 0777), fresh);
  check(futimens(out, times), fresh);
  close(in);
  close(out);
}

static void replace(const char *directory, const char *name) {
  char source[PATH_MAX], target[PATH_MAX], old[PATH_MAX], fresh[PATH_MAX];
  struct stat status;
  snprintf(source, sizeof source, "%s/%s/%s", from, directory, name);
  snprintf(target, sizeof target, "%s/%s/%s", to, directory, name);
  snprintf(old, sizeof old, "%s/.stage/old/%d", to, count);
  snprintf(fresh, sizeof fresh, "%s/.stage/new/%d", to, count++);
  int is_there = stat(target, &status) == 0;
  if (is_there) {
    read_whole(target);
    check(link(target, old), old);
  }
  write_new(source, fresh);
  // A link fails if something new is there; a rename would replace it.
  check(is_there ? rename(fresh, target) : link(fresh, target), target);
}

static void remove_stage(const char *name) {
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%s/.stage/%s", to, name);
  DIR *stage = open_directory(path);
  for (struct dirent *entry; (entry = readdir(stage)) != NULL;)
    if (!is_hidden(entry)) check(unlinkat(dirfd(stage), entry->d_name, 0), entry->d_name);
  closedir(stage);
  check(rmdir(path), path);
}

int main(int argc, char **argv) {
  if (argc != 3) errx(2, "usage: replace-files NEW-FILES DIRECTORY");
  char path[PATH_MAX];
  from = argv[1];
  to = argv[2];
  for (const char **name = (const char *[]){"", "old", "new", NULL}; *name != NULL; name++) {
    snprintf(path, sizeof path, "%s/.stage/%s", to, *name);
    check(mkdir(path, 0777), path);
  }
  DIR *top = open_directory(from);
  for (struct dirent *directory; (directory = readdir(top)) != NULL;) {
    if (is_hidden(directory)) continue;
    snprintf(path, sizeof path, "%s/%s", from, directory->d_name);
    DIR *files = open_directory(path);
    for (struct dirent *file; (file = readdir(files)) != NULL;)
      if (!is_hidden(file)) replace(directory->d_name, file->d_name);
    closedir(files);
  }
  closedir(top);
  remove_stage("old");
  remove_stage("new");
  snprintf(path, sizeof path, "%s/.stage", to);
  check(rmdir(path), path);
}
