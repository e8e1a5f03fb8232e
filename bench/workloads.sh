#!/bin/bash
# workloads.sh - neutral filesystem workload benchmark.
#
#   workloads.sh DIR [GROUP...]      GROUP: meta git micro build fio   (default: meta git micro build)
#
# Runs inside DIR (any mounted filesystem; must be writable), prints CSV lines "workload,seconds" on stdout.
# Assets (tarball, git repository, C++ project, helper binary) are made once in $BENCH_ASSETS
# (default /tmp/bench_assets), which should be on an ordinary local filesystem, never on the one measured.
# Optional environment:
#   BENCH_SCRATCH  name of the sub-directory made in DIR and removed afterwards (default .bench.$$)
#   BENCH_DROP=1   (root) drop dentry/inode caches before the *_cold workloads; without it they are skipped
#   BENCH_FIO_MB   size of the fio file in MiB (default 1024)
#   BENCH_SKIP     extended regex of workload names to leave out
#   BENCH_HOOK_FLUSH  command to run between workloads, outside the timed region (default: sync -f DIR)
# Needs: bash, tar, git, find, grep, cc, c++, make; rg and fio are used when present.
set -u
export LC_ALL=C GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null
export GIT_AUTHOR_NAME=b GIT_AUTHOR_EMAIL=b@example.invalid GIT_COMMITTER_NAME=b GIT_COMMITTER_EMAIL=b@example.invalid
A=${BENCH_ASSETS:-/tmp/bench_assets}
mk_assets() {
  [ -e "$A/ready" ] && return 0
  rm -rf "$A"; mkdir -p "$A" || exit 1
  # 1. tree: up to 5000 real text-ish files taken from this machine, size-limited, in a stable order
  ( cd / && find usr/include usr/share/perl usr/lib/python3 usr/lib/python3.11 usr/share/cmake* usr/share/doc -type f -size -200k ! -name '*.gz' ! -name '*.pyc' 2>/dev/null \
      | sort | head -5000 > "$A/list" && tar cf "$A/tree.tar" -T "$A/list" ) || exit 1
  # 2. git repository of the same files
  mkdir -p "$A/repo" && tar xf "$A/tree.tar" -C "$A/repo" && ( cd "$A/repo" && git init -q -b main . && git add -A -f && git commit -q -m base ) || exit 1
  git clone -q --bare "$A/repo" "$A/repo.git" && rm -rf "$A/repo" || exit 1
  # 3. small C++ project: 8 translation units + 40 headers
  mkdir -p "$A/proj/inc" && ( cd "$A/proj"
    for i in $(seq 1 40); do printf '#pragma once\n#include <cstdint>\ninline std::uint32_t h%d(std::uint32_t x){return x*%du+1u;}\n' $i $((i*2+1)) > inc/h$i.hpp; done
    for i in $(seq 1 8); do { for j in $(seq 1 40); do echo "#include \"h$j.hpp\""; done; printf '#include <string>\n#include <vector>\nstd::string f%d(unsigned n){std::vector<unsigned> v;for(unsigned i=0;i<n;++i)v.push_back(h%d(i));return std::to_string(v.back());}\n' $i $i; } > f$i.cpp; done
    { echo '#include <string>'; echo '#include <cstdio>'; for i in $(seq 1 8); do echo "std::string f$i(unsigned);"; done; echo 'int main(){std::string s;'; for i in $(seq 1 8); do echo "s+=f$i(10);"; done; echo 'std::puts(s.c_str());}'; } > main.cpp
    printf 'OBJS=f1.o f2.o f3.o f4.o f5.o f6.o f7.o f8.o main.o\napp: $(OBJS)\n\t$(CXX) -o $@ $(OBJS)\n%%.o: %%.cpp\n\t$(CXX) -O0 -Iinc -MMD -c -o $@ $<\n-include $(OBJS:.o=.d)\n' > Makefile )
  # 4. helper for the micro loops
  cat > "$A/h.c" <<'C'
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
static void die(const char*s){perror(s);exit(1);}
int main(int c,char**v){ if(c<4)return 2; const char*m=v[1],*d=v[2]; int n=atoi(v[3]); char a[4096],b[4096]; static char buf[4096]; memset(buf,'x',sizeof buf);
 if(chdir(d))die(d);
 if(!strcmp(m,"save")||!strcmp(m,"save_nosync")){ int s=!strcmp(m,"save"); for(int i=0;i<n;i++){ snprintf(a,sizeof a,"f%d",i%200); snprintf(b,sizeof b,".f%d.tmp",i%200);
   int f=open(b,O_CREAT|O_EXCL|O_WRONLY,0644); if(f<0)die(b); if(write(f,buf,4096)!=4096)die("write"); if(s&&fsync(f))die("fsync"); close(f); if(rename(b,a))die("rename"); } }
 else if(!strcmp(m,"owc")){ for(int i=0;i<n;i++){ int f=open("owc",O_CREAT|O_WRONLY,0644); if(f<0)die("owc"); buf[0]=i; if(pwrite(f,buf,4096,0)!=4096)die("pwrite"); close(f);} }
 else if(!strcmp(m,"owc_many")){ for(int i=0;i<n;i++){ snprintf(a,sizeof a,"f%d",i%200); int f=open(a,O_CREAT|O_WRONLY,0644); if(f<0)die(a); buf[0]=i; if(pwrite(f,buf,4096,0)!=4096)die("pwrite"); close(f);} }
 else if(!strcmp(m,"orc")){ for(int i=0;i<n;i++){ snprintf(a,sizeof a,"f%d",i%200); int f=open(a,O_RDONLY); if(f<0)die(a); if(pread(f,buf,4096,0)<0)die("pread"); close(f);} }
 else if(!strcmp(m,"stat")){ struct stat st; for(int i=0;i<n;i++){ snprintf(a,sizeof a,"f%d",i%200); if(lstat(a,&st))die(a);} }
 else if(!strcmp(m,"enoent")){ struct stat st; for(int i=0;i<n;i++){ snprintf(a,sizeof a,"none%d",i%200); if(!lstat(a,&st))die(a);} }
 else if(!strcmp(m,"wr4k")){ int f=open("wr4k",O_CREAT|O_RDWR,0644); if(f<0)die("wr4k"); for(int i=0;i<n;i++) if(pwrite(f,buf,4096,(off_t)(i%4096)*4096)!=4096)die("pwrite"); close(f);} 
 else if(!strcmp(m,"append")){ for(int i=0;i<n;i++){ int f=open("log",O_CREAT|O_WRONLY|O_APPEND,0644); if(f<0)die("log"); if(write(f,buf,100)!=100)die("write"); close(f);} }
 else if(!strcmp(m,"mkrm")){ for(int i=0;i<n;i++){ snprintf(a,sizeof a,"d%d",i); if(mkdir(a,0755))die(a); if(rmdir(a))die(a);} }
 else return 2; return 0; }
C
  cc -O2 -w -o "$A/h" "$A/h.c" || exit 1
  : > "$A/ready"
}
mk_assets
[ $# -ge 1 ] || { echo "usage: $0 DIR [meta git micro build fio]" >&2; exit 2; }
D=$1; shift; G=" ${*:-meta git micro build} "
W="$D/${BENCH_SCRATCH:-.bench.$$}"; rm -rf "$W"; mkdir -p "$W" || exit 1
trap 'cd /; rm -rf "$W"' EXIT
now() { echo "${EPOCHREALTIME/[.,]/}"; }
settle() { if [ -n "${BENCH_HOOK_FLUSH:-}" ]; then eval "$BENCH_HOOK_FLUSH"; else sync -f "$D" 2>/dev/null; fi; }
t() { # t NAME CMD...   timed; a failing command prints NAME,fail
  local n=$1 a b rc; shift; [[ -n ${BENCH_SKIP:-} && $n =~ $BENCH_SKIP ]] && return 0; a=$(now); "$@" >/dev/null 2>"$A/err.$$"; rc=$?; b=$(now)
  if [ $rc -ne 0 ]; then echo "$n,fail"; head -2 "$A/err.$$" | sed "s/^/# $n: /" >&2; else printf '%s,%d.%06d\n' "$n" $(((b-a)/1000000)) $(((b-a)%1000000)); fi; rm -f "$A/err.$$"; }
drop() { [ "${BENCH_DROP:-0}" = 1 ] && { sync; echo 2 > /proc/sys/vm/drop_caches; } 2>/dev/null; }
in_() { local d=$1; shift; ( cd "$d" && "$@" ); }
if [[ $G == *" meta "* ]]; then
  mkdir "$W/t"; t untar tar xf "$A/tree.tar" -C "$W/t"; settle
  t find_ls_1 find "$W/t" -ls
  t find_ls_2 find "$W/t" -ls
  if command -v rg >/dev/null; then t rg_1 rg -j2 --no-ignore --hidden -c 'int main' "$W/t"; t rg_2 rg -j2 --no-ignore --hidden -c 'int main' "$W/t"; fi
  t grep_r grep -rc 'int main' "$W/t" --exclude-dir=.nothing
  if drop; then t find_ls_cold find "$W/t" -ls; fi
  t cp_a cp -a "$W/t" "$W/t2"; settle
  t rm_rf rm -rf "$W/t"; rm -rf "$W/t2"; settle
fi
if [[ $G == *" git "* ]]; then
  t git_clone git clone -q --local --no-hardlinks "$A/repo.git" "$W/g"; settle
  t git_status_1 git -C "$W/g" status --porcelain
  t git_status_2 git -C "$W/g" status --porcelain
  t git_status_3 git -C "$W/g" status --porcelain
  if drop; then t git_status_cold git -C "$W/g" status --porcelain; fi
  ( cd "$W/g" && git ls-files | head -300 | while read -r f; do echo x >> "$f"; done )
  t git_add_commit in_ "$W/g" git commit -q -a -m edit
  t git_checkout git -C "$W/g" checkout -q HEAD~1
  rm -rf "$W/g"; settle
fi
if [[ $G == *" micro "* ]]; then
  mkdir "$W/m"; t atomic_save_2000 "$A/h" save "$W/m" 2000; t save_nosync_5000 "$A/h" save_nosync "$W/m" 5000; settle
  t open_write_close_5000 "$A/h" owc "$W/m" 5000; t owc_200files_5000 "$A/h" owc_many "$W/m" 5000
  t open_read_close_20000 "$A/h" orc "$W/m" 20000; t lstat_100000 "$A/h" stat "$W/m" 100000; t enoent_100000 "$A/h" enoent "$W/m" 100000
  t write4k_20000 "$A/h" wr4k "$W/m" 20000; t append_2000 "$A/h" append "$W/m" 2000; t mkdir_rmdir_2000 "$A/h" mkrm "$W/m" 2000
  rm -rf "$W/m"; settle
fi
if [[ $G == *" build "* ]]; then
  cp -r "$A/proj" "$W/p"; t make_j2 make -s -j2 -C "$W/p"; t make_noop make -s -C "$W/p"; rm -rf "$W/p"; settle
fi
if [[ $G == *" fio "* ]] && command -v fio >/dev/null; then
  mb=${BENCH_FIO_MB:-1024}; f="$W/fio.dat"
  # io_size in MiB; invalidate=0 keeps the page cache as the filesystem left it
  x() { local n=$1; shift; t "$n" fio --name=x --filename="$f" --size=${mb}m --invalidate=0 --allow_file_create=1 --overwrite=0 --randrepeat=1 --fallocate=none --output-format=terse "$@"; }
  x fio_seqwrite_fsync --rw=write --bs=1m --ioengine=psync --end_fsync=1
  x fio_seqrewrite_nosync --rw=write --bs=1m --ioengine=psync; settle
  x fio_seqread_warm --rw=read --bs=1m --ioengine=psync
  x fio_seqread_warm2 --rw=read --bs=1m --ioengine=psync
  x fio_randread4k --rw=randread --bs=4k --ioengine=psync --io_size=512m
  x fio_randwrite4k_nosync --rw=randwrite --bs=4k --ioengine=psync --io_size=256m; settle
  x fio_mmap_read --rw=randread --bs=4k --ioengine=mmap --io_size=256m
  x fio_mmap_write --rw=randwrite --bs=4k --ioengine=mmap --io_size=128m; settle
  if [ "${BENCH_DROP:-0}" = 1 ]; then sync; echo 1 > /proc/sys/vm/drop_caches; x fio_seqread_cold --rw=read --bs=1m --ioengine=psync; fi
  rm -f "$f"; settle
fi
exit 0
