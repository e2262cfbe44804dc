#: a link is made and read
ln -s a.txt l; readlink l; cat l
#: a link to a directory is listed
ln -s dir l; ls l; ls l/sub
#: a broken link
ln -s gone l; cat l; echo "rc $?"; readlink l
#: a link to itself
ln -s l l; cat l; echo "rc $?"
#: links in a circle
ln -s y x; ln -s x y; cat x; ls x; echo "rc $?"
#: a chain of links
ln -s a.txt l1; ln -s l1 l2; ln -s l2 l3; cat l3; readlink -f l3
#: an absolute link
ln -s /w/a.txt l; cat l; readlink l
#: a link upwards
ln -s ../a.txt dir/l; cat dir/l; readlink -f dir/l
#: a link exists already
ln -s x link; echo "rc $?"; readlink link
#: a link is replaced
ln -sf b.txt link; readlink link; cat link
#: a link of the shell's test
[ -L link ] && echo is-link; [ -h dirlink ] && echo is-link; [ -L a.txt ] || echo is-not; [ -e link ] && echo there
#: tests follow links
[ -f link ] && echo file; [ -d dirlink ] && echo dir
#: a broken link does not exist
ln -s gone l; [ -e l ] || echo no; [ -L l ] && echo link
#: a link is removed, not its target
rm link; ls; cat a.txt
#: a link to a directory is not removed as one
rm dirlink; echo "rc $?"; ls dir
#: a link to a directory is removed recursively
rm -r dirlink; ls; ls dir
#: a target is removed
rm a.txt; cat link; echo "rc $?"
#: a broken link is removed
ln -s gone l; rm l; echo "rc $?"; ls
#: a broken link is removed by force
ln -s gone l; rm -f l; echo "rc $?"; ls
#: ls shows where a link leads
ls -l link | sed 's/.* link/link/'; ls -F
#: stat of a link
stat -c '%F %N' link; stat -L -c '%F %s' link
#: pwd through a link
cd dirlink; pwd; pwd -P
#: cd through a link and back
cd dirlink/sub; cd ..; pwd; ls
#: realpath is not there
realpath link dirlink/sub a.txt
#: readlink of a file
readlink a.txt; echo "rc $?"
#: readlink of nothing
readlink gone; echo "rc $?"
#: readlink -f of a missing last name
readlink -f dir/new; echo "rc $?"
#: a hard link shares its content
ln a.txt h; cat h; [ a.txt -ef h ] && echo same
#: a hard link is changed under one name
ln b.txt h; echo changed > h; cat b.txt
#: a hard link is appended to under one name
ln b.txt h; echo more >> b.txt; cat h
#: a hard link outlives its first name
ln a.txt h; rm a.txt; cat h
#: a hard link is moved
ln a.txt h; mv h dir/h; [ a.txt -ef dir/h ] && echo same
#: a hard link to a directory
ln dir h; echo "rc $?"
#: a hard link to nothing
ln gone h; echo "rc $?"
#: a hard link to an existing name
ln a.txt b.txt; echo "rc $?"; cat b.txt
#: a hard link is forced
ln -f a.txt b.txt; cat b.txt; [ a.txt -ef b.txt ] && echo same
#: three names
ln a.txt h1; ln h1 h2; [ h1 -ef h2 ] && echo same; rm a.txt; cat h2
#: a copy is not a hard link
cp a.txt c; [ a.txt -ef c ] || echo different
#: different files are not the same
[ a.txt -ef b.txt ] || echo different; [ a.txt -ef link ] && echo same
#: modes are of the file, not the name
ln a.txt h; chmod 600 h; stat -c %a a.txt h
#: times are of the file, not the name
ln a.txt h; touch -d 2001-02-03T04:05:06Z h; stat -c %Y a.txt h
#: copying over a hard link
ln a.txt h; cp b.txt h; cat a.txt
#: copying a file onto its other name
ln a.txt h; cp a.txt h; echo "rc $?"
#: moving a file onto its other name
ln a.txt h; mv a.txt h; echo "rc $?"; ls
#: a link in a link's directory
ln -s sub dir/s; cat dirlink/s/d.txt
#: mkdir through a link
mkdir dirlink/made; ls dir
#: rm through a link
rm dirlink/c.md; ls dir
#: mv through a link
mv a.txt dirlink/; ls dir
#: cp through a link
cp a.txt dirlink/copied; cat dir/copied
#: a link made through a link
ln -s ../b.txt dirlink/lb; cat dir/lb
#: chmod through a link
chmod 640 link; stat -c %a a.txt; stat -c %a link
#: touch through a link
touch -d 2002-03-04T00:00:00Z link; stat -c %Y a.txt
#: links with spaces
ln -s 'a b' 'l l'; echo hi > 'a b'; cat 'l l'
#: mv of a link
mv link moved; readlink moved; cat a.txt
#: verbose links
ln -sv a.txt v; ln -v b.txt w
