#: a file
mv a.txt m; ls; cat m
#: a file over a file
mv a.txt b.txt; ls; cat b.txt
#: a file into a directory
mv a.txt dir; ls dir
#: several into a directory
mv a.txt b.txt dir; ls . dir
#: several into a file
mv a.txt b.txt run.sh; echo "rc $?"; ls
#: a directory
mv dir d2; find d2 | sort; cat d2/sub/d.txt
#: a directory into a directory
mkdir d2; mv dir d2; find d2 | sort
#: a directory into itself
mv dir dir/sub; echo "rc $?"
#: a directory onto an empty one of its name
mkdir -p d2/dir; mv dir d2; find d2 | sort
#: a directory onto a full one of its name
mkdir -p d2/dir; touch d2/dir/x; mv dir d2; echo "rc $?"; find d2 | sort
#: a directory over a file
mv dir a.txt; echo "rc $?"; ls
#: a file over a directory of its name
mkdir dir/a.txt; mv a.txt dir; echo "rc $?"; ls dir
#: onto itself
mv a.txt a.txt; echo "rc $?"; cat a.txt
#: by another spelling onto itself
mv a.txt ./dir/../a.txt; echo "rc $?"; cat a.txt
#: no clobber
mv -n a.txt b.txt; cat a.txt b.txt
#: verbose
mv -v a.txt m
#: a missing source
mv gone m; echo "rc $?"
#: a missing target directory
mv a.txt gone/m; echo "rc $?"
#: a link
mv link dir/; readlink dir/link
#: onto a link
mv b.txt link; cat link; cat a.txt
#: a link over a file
mv link b.txt; readlink b.txt
#: back and forth
mv a.txt t; mv b.txt a.txt; mv t b.txt; cat a.txt b.txt
#: a name in other letters
mv a.txt A.TXT; ls
#: a tree with links
ln -s c.md dir/l; mv dir d2; cat d2/l
#: a tree with hard links
ln dir/c.md dir/h; mv dir d2; [ d2/c.md -ef d2/h ] && echo same
#: up
mv dir/c.md .; ls; ls dir
#: into a directory by a link
mv b.txt dirlink; ls dir
#: the directory one stands in
cd dir; mv ../dir ../d2; ls ..
#: rm of a file
rm a.txt; ls
#: rm of a missing file
rm gone; echo "rc $?"
#: rm -f of a missing file
rm -f gone; echo "rc $?"
#: rm of a directory
rm dir; echo "rc $?"
#: rm -r
rm -r dir; ls
#: rm -rf of several
rm -rf dir a.txt gone; echo "rc $?"; ls
#: rm verbose
rm -v a.txt
#: rm through dots
rm dir/../a.txt; ls
#: rmdir of an empty directory
mkdir e; rmdir e; ls
#: rmdir of a full directory
rmdir dir; echo "rc $?"
#: rmdir of a file
rmdir a.txt; echo "rc $?"
#: rmdir with parents
mkdir -p p/q/r; rmdir -p p/q/r; ls
#: rmdir of a link
mkdir e; ln -s e l; rmdir l; echo "rc $?"
#: mkdir
mkdir n; ls -d n
#: mkdir of an existing directory
mkdir dir; echo "rc $?"
#: mkdir over a file
mkdir a.txt; echo "rc $?"
#: mkdir -p over a file
mkdir -p a.txt; echo "rc $?"
#: mkdir -p of an existing directory
mkdir -p dir; echo "rc $?"; ls dir
#: mkdir -p deep
mkdir -pv x/y/z; find x
#: mkdir below a file
mkdir -p a.txt/x; echo "rc $?"
#: mkdir without parents
mkdir x/y; echo "rc $?"
#: mkdir over a broken link
ln -s gone l; mkdir l; echo "rc $?"
